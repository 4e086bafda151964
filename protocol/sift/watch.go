package sift

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Watch is one look at the heartbeats (3.2). It reports whether the coordinator is to be
// replaced: the follower has looked Config.Missed times since it saw the last change. Look
// once in every Config.Period.
//
// A change at any memory node counts as a heartbeat, and so does a word that is seen for
// the first time. So every word with which the follower then stands for election has been
// there during all of these looks. The paper does not say how many nodes must show a
// heartbeat. The word of a memory node that has restarted is none: nobody stands with it.
//
// The error wraps [ErrUnavailable] if a majority of the memory nodes cannot be reached.
func (n *Node) Watch() (bool, error) {
	if err := n.connect(); err != nil {
		return false, fmt.Errorf("sift: watch: %w", err)
	}
	fresh := false
	n.onWords(func(*peer) (verbs.SendWR, bool) {
		return verbs.SendWR{Op: verbs.OpRead}, true
	}, func(p *peer, w Word) {
		fresh = fresh || w != outsider && (!p.known || p.seen != w)
		n.sees(p, w)
	})
	switch {
	case n.reached() < n.cfg.majority():
		n.misses = 0
		return false, fmt.Errorf("%w: %d of %d memory nodes reached", ErrUnavailable, n.reached(), len(n.nodes))
	case fresh:
		n.misses = 0
	default:
		n.misses++
	}
	return n.misses >= n.cfg.Missed, nil
}
