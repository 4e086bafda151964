package sift

import (
	"fmt"
	"math"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Beat sends a heartbeat (3.2): it swaps a word with the next timestamp into every memory
// node. If a majority has taken it, nobody else had been elected before, and the lease is
// renewed. Otherwise the coordinator stops for good, and the error wraps [ErrReplaced], or
// [ErrUnavailable] if fewer than a majority have answered.
//
// A memory node with the word of another node for this term or an earlier one belongs to a
// candidate that has lost, or could not be reached during the election. The next heartbeat
// takes it over. The paper leaves this open.
func (c *Coordinator) Beat() error {
	c.beatMu.Lock()
	defer c.beatMu.Unlock()
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	if stopped != nil {
		return stopped
	}
	return c.beat()
}

func (c *Coordinator) beat() error {
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
	c.until = max(c.until, start+c.cfg.Lease)
	return c.stopped
}

// swapWords swaps the next word into the memory nodes, and counts those that took it, and
// those that answered.
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
		return verbs.SendWR{Op: verbs.OpCompareSwap, Compare: uint64(p.seen), Swap: uint64(mine)}, p.seen.Term() <= c.term && p.seen != outsider
	}, func(p *peer, found Word) {
		answered++
		if found == p.seen {
			took++
			found = mine
		}
		c.n.sees(p, found)
	})
	return took, answered, nil
}
