package splitfs

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// NCL returns a store on the log peers of cfg. The write that detects a failed peer replaces
// it by another one from cfg or from the controller. If watch is not 0, each object checks
// at this interval that all its peers are alive, even if nothing is written.
func NCL(h host.Host, cfg ncl.Config, watch time.Duration) Store { return &nclStore{h, cfg, watch} }

// repairEvery is how often to look for other peers while there are too few.
const repairEvery = 5 * time.Second

type nclStore struct {
	h     host.Host
	cfg   ncl.Config
	watch time.Duration
}

func (s *nclStore) Create(object string, size int) (Object, error) {
	f, err := ncl.Create(s.h, s.cfg, object, size)
	if err != nil {
		return nil, failed(err)
	}
	return s.maintained(f), nil
}

func (s *nclStore) Recover(object string) (Object, error) {
	f, err := ncl.Recover(s.h, s.cfg, object)
	if errors.Is(err, ncl.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	} else if err != nil {
		return nil, failed(err)
	}
	return s.maintained(f), nil
}

func (s *nclStore) maintained(f *ncl.File) Object {
	o := &nclObject{ncl.Maintained{File: f, Every: repairEvery, Told: func(err error) {
		if err != nil {
			s.h.Logf("failed peers are not replaced: %v", err)
		}
	}}}
	if s.watch > 0 {
		o.Watch(s.watch)
	}
	return o
}

type nclObject struct{ ncl.Maintained }

func (o *nclObject) Record(off int, data []byte) error { return failed(o.Maintained.Record(off, data)) }

func (o *nclObject) Release() error { return failed(o.Maintained.Release()) }

// failed marks an error of the store.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}
