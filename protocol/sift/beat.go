package sift

import (
	"fmt"
	"math"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Beat sends a heartbeat (3.2): it swaps a word with the next timestamp into every memory
// node. If a majority has taken it, no other node had been elected before, and the lease is
// renewed. Otherwise the coordinator stops permanently, and the error wraps [ErrReplaced], or
// [ErrUnavailable] if fewer than a majority have answered.
//
// A memory node with the word of another node for this term or an earlier one belongs to a
// candidate that has lost, or could not be reached during the election. The next heartbeat
// takes it over. The paper leaves this open.
func (c *Coordinator) Beat() error {
	c.beatMu.Lock()
	defer c.beatMu.Unlock()
	if err := c.Stopped(); err != nil { // after Close the node may follow already, on the same connections
		return err
	}
	start := c.h.Now()
	took, answered, err := c.swapWords()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		return c.stop(err)
	case answered < c.cfg.majority():
		return c.stop(fmt.Errorf("%w: %d of %d memory nodes answered a heartbeat", ErrUnavailable, answered, len(c.cfg.Memory)))
	case took < c.cfg.majority():
		return c.stop(fmt.Errorf("%w: %d of %d memory nodes took a heartbeat of term %d", ErrReplaced, took, len(c.cfg.Memory), c.term))
	}
	c.lease = max(c.lease, start+c.cfg.Lease)
	return c.stopped
}

// swapWords swaps the next word into the memory nodes, and counts those that took it, and
// those that answered. It only looks at outsiders: see [Coordinator.Rejoin].
func (c *Coordinator) swapWords() (took, answered int, err error) {
	if c.beats == math.MaxUint32 {
		return 0, 0, fmt.Errorf("%w: heartbeat %d of term %d", ErrExhausted, c.beats, c.term)
	}
	if err := c.n.connect(); err != nil {
		return 0, 0, err
	}
	c.beats++
	mine := MakeWord(c.cfg.Node, c.term, c.beats)
	c.n.onWords(func(p *peer) (verbs.SendWR, bool) {
		if p.seen == outsider {
			return verbs.SendWR{Op: verbs.OpRead}, true
		}
		return verbs.SendWR{Op: verbs.OpCompareSwap, Compare: uint64(p.seen), Swap: uint64(mine)}, p.seen.Term() <= c.term
	}, func(p *peer, found Word) {
		if p.seen != outsider {
			answered++
			if found == p.seen {
				took++
				found = mine
			}
		}
		c.n.sees(p, found)
	})
	return took, answered, nil
}

// lookAt reads the word of a memory node that rejoins, and returns the connection to it.
func (c *Coordinator) lookAt(name string) (*lend.Conn, error) {
	c.beatMu.Lock()
	defer c.beatMu.Unlock()
	if err := c.Stopped(); err != nil { // as in Beat
		return nil, err
	}
	p := c.n.peer(name)
	for range 2 { // the connection may have failed unnoticed
		if err := c.n.connect(); err != nil {
			return nil, err
		}
		c.n.onWord(p, verbs.SendWR{Op: verbs.OpRead}, func(w Word) { c.n.sees(p, w) })
		if p.known {
			return p.conn, nil
		}
	}
	return nil, fmt.Errorf("%w: %s is not reached", ErrNotJoined, name)
}

// welcome gives the coordinator's word to a node that has restarted and has a full copy, so that it
// takes part in elections. It does so only over a connection that is older than the heartbeat by which
// the coordinator was confirmed: another life of the node would need another one.
func (c *Coordinator) welcome(name string, over *lend.Conn) error {
	c.beatMu.Lock()
	defer c.beatMu.Unlock()
	if err := c.Stopped(); err != nil { // as in Beat
		return err
	}
	p := c.n.peer(name)
	if p.conn == over && p.seen == outsider {
		mine := MakeWord(c.cfg.Node, c.term, c.beats)
		c.n.onWord(p, verbs.SendWR{Op: verbs.OpCompareSwap, Compare: uint64(outsider), Swap: uint64(mine)}, func(found Word) {
			if found == outsider {
				found = mine
			}
			c.n.sees(p, found)
		})
	}
	if p.conn != over || p.seen == outsider {
		return fmt.Errorf("%w: %s can no longer be reached", ErrNotJoined, name)
	}
	return nil
}
