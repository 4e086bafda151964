package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Strengthen is a set of measures that make a program work with weaker promises of the
// card. A program could take them itself; here the simulator takes them for it. The
// program stays unchanged, so a check shows what each measure would repair.
type Strengthen uint8

// The measures of a Strengthen.
const (
	// Inlined posts the payload of every Write and Send inline if it fits, so that the
	// card copies it at once. A payload that does not fit is posted unchanged.
	Inlined Strengthen = 1 << iota
	// Fenced posts every request with a fence.
	Fenced
	// FlushRead follows every Write with a Read of the same bytes, and makes the program wait for
	// the Read where it waits for the Write: then an acknowledged Write is in memory. A Write whose
	// Read failed may be in memory although it is reported as failed. The Reads themselves are not
	// in the trace. With Fenced, a later Write waits for the Read, and thus for the Write before it.
	FlushRead
	strengthenEnd
)

var strengthenNames = []string{"inline", "fence", "flush-read"}

// ErrStrengthen is wrapped by errors about names of a Strengthen.
var ErrStrengthen = errors.New("sim: unknown strengthening")

// StrengthenNames returns the names that ParseStrengthen knows.
func StrengthenNames() []string { return append([]string(nil), strengthenNames...) }

// ParseStrengthen reads names joined by +, as String writes them. The empty text is the empty set.
func ParseStrengthen(text string) (Strengthen, error) {
	var out Strengthen
	if text == "" {
		return 0, nil
	}
next:
	for word := range strings.SplitSeq(text, "+") {
		for i, name := range strengthenNames {
			if name == word {
				out |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("%w: %q; there are %s", ErrStrengthen, word, strings.Join(strengthenNames, ", "))
	}
	return out, nil
}

// String returns the names in s joined by +, empty for the empty set.
func (s Strengthen) String() string {
	var names []string
	for i, name := range strengthenNames {
		if s>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// apply returns wr as it is posted on a card that takes inline bytes: the program would
// also ask for a queue pair that does.
func (s Strengthen) apply(wr verbs.SendWR, inline int) verbs.SendWR {
	if s&Fenced != 0 {
		wr.Flags |= verbs.Fence
	}
	if s&Inlined != 0 && canInline(wr.Op) && wr.Length() <= inline {
		wr.Flags |= verbs.Inline
	}
	return wr
}

// canInline reports whether requests of this kind have a payload to copy.
func canInline(op verbs.Opcode) bool {
	return op == verbs.OpWrite || op == verbs.OpWriteImm || op == verbs.OpSend || op == verbs.OpSendImm
}

// strengthen returns wr as it is posted, and counts requests that cannot be inline.
func (q *qp) strengthen(wr *verbs.SendWR) *verbs.SendWR {
	s := q.w.cfg.Strengthen
	if s == 0 {
		return wr
	}
	x := s.apply(*wr, q.pd.c.Attr().MaxInline)
	if s&Inlined != 0 && x.Flags&verbs.Inline == 0 && canInline(wr.Op) {
		q.w.stats.NotInline++
	}
	return &x
}

// flushes reports whether e is in memory once its request has succeeded, because of the Read that follows it.
func (w *World) flushes(e *elem) bool {
	return e.kind == elemWrite && w.cfg.Strengthen&FlushRead != 0 && !e.byCPU() && e.q.ent(e.wr).writes()
}

// unread decides which was the first request that the responder refused, among those from
// first on, if the card had taken those before n. Without FlushRead it is n. With FlushRead,
// the Reads that follow the last Writes may have been too late although the Writes were not:
// those Writes are in memory or in flight, but their success is not reported.
func (w *World) unread(q *qp, first, n int) int {
	least := n
	for least > first && w.cfg.Strengthen&FlushRead != 0 && q.ent(least-1).writes() {
		least--
	}
	if least == n {
		return n
	}
	done := n - w.choose(ChooseCutoff, n-least+1, func(i int) string { return q.name() + " read to #" + itoa(n-i) })
	for _, e := range q.elems {
		if e.wr >= done && e.wr < n && e.acked {
			e.ackAt = unlimited // no Read has to find it
		}
	}
	return done
}

func (s *sqEntry) writes() bool { return s.op == verbs.OpWrite || s.op == verbs.OpWriteImm }
