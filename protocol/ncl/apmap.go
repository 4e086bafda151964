package ncl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/coord"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
)

// The data at the controller. The ap-map has one key for each file of an application.
// Each application also has a counter for the identities of its files; the counter is
// never deleted.

func appPrefix(app string) string { return "apps/" + app + "/" }

func fileKey(app, name string) string { return appPrefix(app) + name }

func counterKey(app string) string { return "files/" + app }

// Files lists the files of an application, so that each can be recovered (4.5.1). It
// includes files of unfinished creations; [Recover] removes them.
func Files(c coord.Client, app string) ([]string, error) {
	keys, err := c.List(appPrefix(app))
	for i := range keys {
		keys[i] = strings.TrimPrefix(keys[i], appPrefix(app))
	}
	return keys, err
}

// newID returns an identity that no other file of the application ever had. Epochs
// alone do not distinguish a file from an earlier one with the same name, if a
// peer may still have a region of the earlier one, or a request to it may still be in flight.
func newID(c coord.Client, app string) (uint64, error) {
	id, err := ctrl.Next(c, counterKey(app))
	if errors.Is(err, ctrl.ErrMalformed) {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return id, err
}

// loadEntry looks up a file in the ap-map: the decoded entry, and the entry itself.
func loadEntry(c coord.Client, app, name string) (entry, *ctrl.Entry, error) {
	held, err := ctrl.Load(c, fileKey(app, name))
	if errors.Is(err, coord.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if err != nil {
		return entry{}, nil, err
	}
	e, err := decodeEntry(held.Value)
	if err != nil {
		return entry{}, nil, fmt.Errorf("ap-map: %w", err)
	}
	return e, held, nil
}

// save replaces the entry of this handle in the ap-map by e. If another instance has
// changed the entry, that instance has taken over the file. No other instance writes the
// same value: a recovery begins an epoch, and only its first entry is marked as copying.
func (f *File) save(e entry) error {
	err := f.held.Set(e.encode())
	if now, bad := decodeEntry(f.held.Value); bad == nil {
		f.entry = now // Confirm may have found the entry before e
	}
	return stale(err)
}

// stale converts the error of an entry changed by another instance to ErrStale.
func stale(err error) error {
	if errors.Is(err, ctrl.ErrTaken) {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return err
}

func (f *File) key() string { return fileKey(f.cfg.App, f.name) }
