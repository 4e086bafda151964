package splitfs

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// NCL is a store on the log peers of cfg.
func NCL(h host.Host, cfg ncl.Config) Store { return &nclStore{h, cfg} }

type nclStore struct {
	h   host.Host
	cfg ncl.Config
}

func (s *nclStore) Create(object string, size int) (Object, error) {
	f, err := ncl.Create(s.h, s.cfg, object, size)
	if err != nil {
		return nil, err // not f: a nil *ncl.File is an Object
	}
	return f, nil
}

func (s *nclStore) Recover(object string) (Object, error) {
	f, err := ncl.Recover(s.h, s.cfg, object)
	if errors.Is(err, ncl.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	} else if err != nil {
		return nil, err
	}
	return f, nil
}
