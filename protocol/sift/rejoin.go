package sift

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/kit/lend"
)

// Rejoining is a memory node that comes back (3.4.2), and gets what it lacks block by block. It does
// not count before [Rejoining.Join].
type Rejoining struct {
	c    *Coordinator
	r    *replica
	word *lend.Conn // to its administrative word, since before the coordinator was confirmed
	buf  *lend.Memory
	next int // the block to copy next: those of the direct zone, and then those of the memory
	// since: what no entry from this one on has written is there already. 0: nothing is.
	since  uint64
	copied int
}

// Rejoin starts to bring a failed memory node back: it connects, and determines what the node
// lacks. Then call [Rejoining.CopyBlock] until nothing is left, and [Rejoining.Join]. Only one node
// may come back at a time. The error wraps [ErrNotJoined] if the coordinator continues without the node.
//
// An application with a direct zone first rewrites what [Coordinator.Copies] returned: the direct zone
// is copied from one node, which may lack what another one has.
func (c *Coordinator) Rejoin(name string) (*Rejoining, error) {
	j := &Rejoining{c: c}
	if err := j.reserve(name); err != nil {
		return nil, err
	}
	err := j.connect(name)
	if err == nil {
		err = j.survey()
	}
	if err != nil {
		return nil, j.fail(err)
	}
	return j, nil
}

// reserve makes j the one node that comes back.
func (j *Rejoining) reserve(name string) error {
	c := j.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped != nil:
		return c.stopped
	case !slices.Contains(c.cfg.Memory, name) || slices.ContainsFunc(c.live(), func(r *replica) bool { return r.Peer == name }):
		return fmt.Errorf("%w: %q has not failed, or is no memory node", ErrNotJoined, name)
	case c.rejoining != nil:
		return fmt.Errorf("%w: another node is rejoining", ErrNotJoined)
	}
	c.rejoining = j
	return nil
}

// connect connects to the node, and then checks that the coordinator still leads.
//
// A node that has restarted does not know which coordinators it had admitted. So a replaced
// coordinator might bring it back, and acknowledge writes with it. But a heartbeat of such a coordinator
// fails: a majority had another word before the node restarted, and the node itself, whose word is lost,
// does not count. The paper does not say that a coordinator checks this.
func (j *Rejoining) connect(name string) (err error) {
	c := j.c
	if j.word, err = c.lookAt(name); err != nil {
		return err
	}
	if err := j.dial(name); err != nil {
		return err
	}
	return c.Beat()
}

// dial connects to the node's region. Close waits for that, and then drops the connection; other tasks continue.
func (j *Rejoining) dial(name string) error {
	c := j.c
	c.enter()
	defer c.leave()
	if c.stopped != nil {
		return c.stopped
	}
	d := dialer{h: c.h, cfg: c.cfg, group: c.group, say: request{copyDoor, c.cfg.Node, c.term, c.cfg.print()}, size: c.cfg.regionSize()}
	c.mu.Unlock()
	conns, err := d.dial([]string{name})
	c.mu.Lock()
	if err != nil {
		return err
	}
	if conns[0] == nil {
		return fmt.Errorf("%w: no connection to %s", ErrNotJoined, name)
	}
	j.r = &replica{Conn: conns[0], part: slices.Index(c.cfg.Memory, name)}
	return nil
}

// survey determines what the node lacks, and marks its memory as incomplete.
func (j *Rejoining) survey() error {
	c := j.c
	c.enter()
	defer c.leave()
	if c.stopped != nil {
		return c.stopped
	}
	var err error
	if j.buf, err = c.group.Register(max(c.cfg.directAt(), c.cfg.Block)); err != nil {
		return err
	}
	c.read(j.r, 0, j.buf, 0, c.cfg.directAt())
	if !c.await(j.r, j.r.Asked) {
		return j.gone()
	}
	state, zone := j.buf.Region.Load64(0), make([]byte, c.cfg.logSize())
	j.buf.Region.Load(stateSize, zone)
	log, _ := c.shape.Parse(zone)
	if state&void == 0 && log.First >= c.known {
		j.since = log.First
	}
	if err := c.others(); err != nil {
		return err
	}
	c.state(j.r, state|void, 0)
	return nil
}

// others waits until a majority without the node has all entries and all direct writes that it may have
// acknowledged: the copies on the node no longer count once its memory is overwritten.
func (c *Coordinator) others() error {
	last := c.last
	var direct []sent
	for _, r := range c.live() {
		direct = append(direct, sent{r, r.direct})
	}
	c.until(func() bool { return c.enough() != nil || c.onMajority() >= last && c.majorityDid(direct) })
	return c.stopped
}

// usable is nil if j is the node that comes back.
func (j *Rejoining) usable() error {
	switch {
	case j.c.stopped != nil:
		return j.c.stopped
	case j.c.rejoining != j:
		return fmt.Errorf("%w: this attempt is over", ErrNotJoined)
	}
	return nil
}

func (j *Rejoining) gone() error {
	if j.c.stopped != nil {
		return j.c.stopped
	}
	return fmt.Errorf("%w: %w", ErrNotJoined, j.r.Err)
}

// fail gives the node up, because of err.
func (j *Rejoining) fail(err error) error {
	c := j.c
	c.enter()
	defer c.leave()
	if c.rejoining != j {
		return err
	}
	if j.r != nil {
		c.drop(j.r.Conn)
	}
	return errors.Join(err, j.end())
}

// end unlocks all blocks.
func (j *Rejoining) end() error {
	c := j.c
	for i := range j.next {
		b := c.block(i)
		b.locks.copy(b.number, false)
	}
	c.rejoining = nil
	c.changed.Broadcast()
	if j.buf == nil {
		return nil
	}
	return j.buf.Free()
}

// drop releases a connection.
func (c *Coordinator) drop(conn *lend.Conn) {
	if err := c.group.Drop(conn); err != nil {
		c.h.Logf("disconnect from %s: %v", conn.Peer, err)
	}
}

// CopyRegion brings a failed memory node back: all steps in a row.
func (c *Coordinator) CopyRegion(name string) error {
	j, err := c.Rejoin(name)
	if err != nil {
		return err
	}
	for more := true; more; {
		if more, err = j.CopyBlock(); err != nil {
			return err
		}
	}
	return j.Join()
}
