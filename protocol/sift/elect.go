package sift

import (
	"fmt"
	"math"
	"time"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Outcome is the outcome of a round of an election.
type Outcome uint8

// The outcomes of a round.
const (
	// Won: a majority of the memory nodes has this node's word.
	Won Outcome = iota + 1
	// Lost: another node is the coordinator, or the words of too few memory nodes are known.
	// This one follows again.
	Lost
	// Split: no node has won. Back off, and stand again.
	Split
)

var outcomeNames = [...]string{"none", "won", "lost", "split"}

func (o Outcome) String() string { return outcomeNames[o] }

// Campaign is one round of an election (3.2): the node raises its term by one, and swaps
// its word into every memory node where it finds the word that it saw there last. After a
// round that was not won, these are the words that the round has found, and no older ones.
//
// A memory node changes its term only upwards, since a candidate's term exceeds all that it
// has seen. So two candidates cannot both win one node for one term, and a term has at most
// one coordinator.
//
// The node also loses if it knows the words of fewer than a majority: it cannot win with these, and
// each further round would use up a term. [Node.Watch] reads the words again.
//
// The error wraps [ErrExhausted] if there is no further term.
func (n *Node) Campaign() (Outcome, error) {
	beats := false
	won, err := n.swap(func(p *peer) bool { return p.known && p.seen != outsider }, func(found Word) {
		beats = beats || found.Timestamp() > 0
	})
	switch {
	case err != nil:
		return 0, err
	case won >= n.cfg.majority():
		return Won, nil
	case beats || n.elsewhere() || n.reached() < n.cfg.majority():
		n.misses = 0
		return Lost, nil
	}
	return Split, nil
}

// swap raises the term, swaps the node's word into the memory nodes that it asks, and counts those
// that took it. It records the words that it finds in the others.
func (n *Node) swap(ask func(p *peer) bool, other func(found Word)) (won int, err error) {
	if n.term == math.MaxUint16 {
		return 0, fmt.Errorf("%w: term %d", ErrExhausted, n.term)
	}
	n.term++
	n.stood = n.term
	mine := MakeWord(n.cfg.Node, n.stood, 0)
	n.onWords(func(p *peer) (verbs.SendWR, bool) {
		return verbs.SendWR{Op: verbs.OpCompareSwap, Compare: uint64(p.seen), Swap: uint64(mine)}, ask(p)
	}, func(p *peer, found Word) {
		if found == p.seen {
			won++
			found = mine
		} else {
			other(found)
		}
		n.sees(p, found)
	})
	return won, nil
}

// elsewhere reports whether the words show another node with a majority.
//
// A candidate also gives way to any heartbeat that it finds: the coordinator that sent it
// may hold a lease. The paper compares with a majority only; see finding 3 in docs/sift.md.
func (n *Node) elsewhere() bool {
	for i := range n.nodes {
		w := n.nodes[i].seen
		has := quorum.Count(n.nodes, func(p peer) bool { return p.known && p.seen.by(w.Node(), w.Term()) })
		if w.Node() != n.cfg.Node && has >= n.cfg.majority() && w.Node() != 0 {
			return true
		}
	}
	return false
}

// The back-off is random among this many times.
const backOffs = 4

// BackOff waits for a random time after a split round (3.2).
func (n *Node) BackOff() {
	n.h.Sleep(n.cfg.BackOff * time.Duration(1+n.h.Rand(backOffs)))
}
