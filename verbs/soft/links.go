package soft

import (
	"fmt"
	"net/netip"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Links are the links between devices of this process, for tests to cut. A cut loses the
// connections of the link and prevents new ones.
type Links []verbs.Device

// Cut cuts the link between devices i and j until Heal.
func (l Links) Cut(i, j int) error { return l.set(i, j, true) }

// Heal lets new connections pass between devices i and j.
func (l Links) Heal(i, j int) error { return l.set(i, j, false) }

func (l Links) set(i, j int, cut bool) error {
	if i < 0 || j < 0 || i >= len(l) || j >= len(l) || l[i] == l[j] {
		return fmt.Errorf("soft: %w: a link between devices %d and %d of %d", verbs.ErrUnsupported, i, j, len(l))
	}
	a, ok := l[i].(*device)
	b, ok2 := l[j].(*device)
	if !ok || !ok2 {
		return fmt.Errorf("soft: %w: a link of a device of another kind", verbs.ErrUnsupported)
	}
	a.setCut(b.at, cut)
	b.setCut(a.at, cut)
	return nil
}

// Cut cuts dev off from the device of an endpoint, which may belong to another process. If cut is false, it permits
// new connections again. Only dev is changed: the other device may still have a connection. The error wraps
// [verbs.ErrUnsupported] if dev is of another kind.
func Cut(dev verbs.Device, from verbs.Endpoint, cut bool) error {
	d, ok := dev.(*device)
	if !ok {
		return fmt.Errorf("soft: %w: to cut off a device of another kind", verbs.ErrUnsupported)
	}
	d.setCut(addrOf(from.GID, from.LID), cut)
	return nil
}

// setCut forbids connections between this device and another one, or permits them again.
func (d *device) setCut(at netip.AddrPort, cut bool) {
	d.mu.Lock()
	if !cut {
		delete(d.cut, at)
		d.mu.Unlock()
		return
	}
	d.cut[at] = true
	var qps []*qp
	for _, q := range d.qps { //lint:ordered all lose their connections
		qps = append(qps, q)
	}
	d.mu.Unlock()
	for _, q := range qps {
		q.lose(at)
	}
}

// lose breaks the connections to a device, in both directions.
func (q *qp) lose(at netip.AddrPort) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.connected || q.peer() != at {
		return
	}
	if in := q.in; in != nil {
		q.in = nil
		in.dead = true
		_ = in.conn.Close()
	}
	if q.out != nil && q.out.conn != nil {
		_ = q.out.conn.Close() // receive notices
	}
}
