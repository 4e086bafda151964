package ncl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/coord"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
)

// What the controller holds. The ap-map has one key for each file of an
// application. Beside it there is a counter for each application, from which files
// get their identities, and which is never deleted.

func appPrefix(app string) string { return "apps/" + app + "/" }

func fileKey(app, name string) string { return appPrefix(app) + name }

func counterKey(app string) string { return "files/" + app }

// Files lists the files of an application, for a recovery to go through (4.5.1). One
// whose creation came to no end is among them; [Recover] removes it.
func Files(c coord.Client, app string) ([]string, error) {
	keys, err := c.List(appPrefix(app))
	for i := range keys {
		keys[i] = strings.TrimPrefix(keys[i], appPrefix(app))
	}
	return keys, err
}

// newID is an identity that no other file of the application ever had. Epochs alone do
// not tell a file from an earlier one of the same name, of which a peer may still have
// a region, or a request may still be on its way.
func newID(c coord.Client, app string) (uint64, error) {
	id, err := ctrl.Next(c, counterKey(app))
	if errors.Is(err, ctrl.ErrMalformed) {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return id, err
}

// loadEntry finds a file in the ap-map: what its entry says, and the entry itself.
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

// save writes e to the ap-map in the place of the entry of this handle. Whoever else has
// changed that one has taken the file over. No other instance writes what this one wrote: a
// recovery begins an epoch, and the entry with which it does so is the only one that says
// that it copies.
func (f *File) save(e entry) error {
	err := f.held.Set(e.encode())
	if now, bad := decodeEntry(f.held.Value); bad == nil {
		f.entry = now // the one before e may have been found to be there
	}
	return stale(err)
}

// stale is ErrStale where another instance has changed the entry.
func stale(err error) error {
	if errors.Is(err, ctrl.ErrTaken) {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return err
}

func (f *File) key() string { return fileKey(f.cfg.App, f.name) }
