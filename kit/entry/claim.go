package entry

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Claim is a key that one host holds in a session of its own.
type Claim struct {
	c       coord.Client
	session coord.Session
}

// Take claims key with a value. The error wraps [ErrHeld] if another host holds it: try
// again, since that host may have crashed and its session not yet expired.
func Take(c coord.Client, key string, value []byte) (*Claim, error) {
	s, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	h := &Claim{c: c, session: s}
	err = c.Create(key, value, s)
	if errors.Is(err, coord.ErrExists) {
		err = fmt.Errorf("%w: %w", ErrHeld, err)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Check returns nil if the claim was held at some moment during the call. It wraps
// [coord.ErrSessionExpired] if it is no longer held.
func (h *Claim) Check() error { return h.c.CheckSession(h.session) }

// Close releases the claim.
func (h *Claim) Close() error { return h.c.CloseSession(h.session) }
