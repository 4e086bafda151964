package ncl

import (
	"errors"
	"fmt"

	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
)

// Instance is the right to be the only instance of an application (4.7): an ephemeral
// key, which expires when the controller has received no heartbeat for too long. An
// instance that is still alive learns of the expiry late. It can do no harm: a recovery
// revokes its access to the files before it reads them. See finding 2.
type Instance struct{ claim *ctrl.Claim }

// Start claims the right to be the instance of cfg.App. It fails with [ErrRunning] if
// another instance has the right: try again, since that instance may have crashed and its
// session may not have expired yet.
func Start(cfg Config) (*Instance, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	claim, err := ctrl.Take(cfg.Coord, "servers/"+cfg.App, nil)
	if errors.Is(err, ctrl.ErrHeld) {
		err = fmt.Errorf("%w: %w", ErrRunning, err)
	}
	if err != nil {
		return nil, fmt.Errorf("ncl: start %q: %w", cfg.App, err)
	}
	return &Instance{claim}, nil
}

// Check returns nil if this was the instance of the application at some moment during the
// call.
func (i *Instance) Check() error { return i.claim.Check() }

// Close releases the right.
func (i *Instance) Close() error { return i.claim.Close() }
