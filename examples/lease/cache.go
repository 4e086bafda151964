package lease

import (
	"encoding/binary"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Margin is how long the keeper of a value waits before it changes it: the length of a
// lease, on clocks whose rates differ by at most a factor of 1.5.
const Margin = Lease * 3 / 2

const keeping = "keep"

// Keep serves a value. A client that reads it may cache it for the length of a lease. Before
// a change, Keep grants no more leases and waits until all granted leases have expired.
func Keep(h host.Host, margin time.Duration) error {
	lis, err := h.Listen(keeping)
	if err != nil {
		return err
	}
	for value := uint64(0); ; {
		req, err := lis.Accept(verbs.Forever)
		if err != nil {
			return err
		}
		if b := req.Body(); len(b) == 8 {
			h.Sleep(margin)
			value = binary.BigEndian.Uint64(b)
		}
		req.Reply(binary.BigEndian.AppendUint64(nil, value))
	}
}

// Change changes the value, and returns once no client still caches the old one.
func Change(h host.Host, keeper string, value uint64) error {
	_, err := h.Call(keeper, keeping, binary.BigEndian.AppendUint64(nil, value), verbs.Forever)
	return err
}

// Cache holds a value under a lease.
type Cache struct {
	h      host.Host
	keeper string
	value  uint64
	until  time.Duration
}

// NewCache returns an empty cache of the value that a host keeps.
func NewCache(h host.Host, keeper string) *Cache { return &Cache{h: h, keeper: keeper, until: -1} }

// Get returns the value as it was at some moment during the call. The lease starts before
// the request to the keeper.
func (c *Cache) Get() (uint64, error) {
	now := c.h.Now()
	if now < c.until {
		return c.value, nil
	}
	b, err := c.h.Call(c.keeper, keeping, nil, verbs.Forever)
	if err == nil {
		c.value, c.until = binary.BigEndian.Uint64(b), now+Lease
	}
	return c.value, err
}
