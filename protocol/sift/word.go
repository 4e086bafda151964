package sift

import "fmt"

// Word is the administrative word of a memory node: who leads, in which term, and the
// number of its last heartbeat (3.1). It has 64 bits, so that one CompareSwap covers it:
// from the high end 16 for the node, 16 for the term and 32 for the timestamp.
//
// A candidate sets the timestamp to 0; a coordinator counts its heartbeats from 1. The
// paper leaves this open. So a word with a timestamp shows a coordinator at work.
type Word uint64

// MakeWord returns a word.
func MakeWord(node, term uint16, timestamp uint32) Word {
	return Word(node)<<48 | Word(term)<<32 | Word(timestamp)
}

// Node is the number of the CPU node that wrote the word, 0 if none has.
func (w Word) Node() uint16 { return uint16(w >> 48) }

// Term is the term for which it was written.
func (w Word) Term() uint16 { return uint16(w >> 32) }

// Timestamp is the number of the heartbeat, 0 before the first.
func (w Word) Timestamp() uint32 { return uint32(w) }

func (w Word) String() string {
	if w == outsider {
		return "outsider"
	}
	return fmt.Sprintf("%d.%d.%d", w.Node(), w.Term(), w.Timestamp())
}

// by reports whether a node wrote w in a term.
func (w Word) by(node, term uint16) bool { return w.Node() == node && w.Term() == term }

// outsider is the word of a memory node that has restarted. It has lost its memory, so it
// takes no part in elections.
const outsider = Word(MaxNode+1) << 48
