package lease

import (
	"encoding/binary"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Margin is how long the keeper of a value waits before it changes it: a lease, on clocks of
// which one may be half as fast again as another.
const Margin = Lease * 3 / 2

const keeping = "keep"

// Keep keeps a value. Whoever asks for it may take it for the value for as long as a lease.
// To change it, Keep gives out no more leases until those that it has given are over.
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

// Change changes the value, and returns when nobody takes the old one for it any more.
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

// NewCache is an empty cache of the value that a host keeps.
func NewCache(h host.Host, keeper string) *Cache { return &Cache{h: h, keeper: keeper, until: -1} }

// Get returns what the value is at some moment of the call. The lease began before the
// keeper was asked.
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
