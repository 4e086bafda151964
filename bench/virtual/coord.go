package virtual

import "github.com/verbatim-rdma/verbatim/coord"

// controller is a coordination service whose calls take time.
type controller struct {
	coord.Client
	h *Host
}

// Coord gives the client c of host h the times of the model: a List costs a lookup, which
// includes the Gets after it, and each change costs an update.
func Coord(h *Host, c coord.Client) coord.Client { return &controller{c, h} }

func (c *controller) List(prefix string) ([]string, error) {
	defer c.h.event("lookup", c.h.now)
	c.h.spend(c.h.c.model.Lookup)
	return c.Client.List(prefix)
}

func (c *controller) update() {
	began := c.h.now
	c.h.spend(c.h.c.model.Update)
	c.h.event("update", began)
}

func (c *controller) Create(key string, value []byte, s coord.Session) error {
	c.update()
	return c.Client.Create(key, value, s)
}

func (c *controller) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	c.update()
	return c.Client.Set(key, value, ifVersion)
}

func (c *controller) Delete(key string, ifVersion uint64) error {
	c.update()
	return c.Client.Delete(key, ifVersion)
}
