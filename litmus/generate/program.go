package generate

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the kind of a statement.
type Kind uint8

// The kinds: verbs, CPU operations, and the ends of a message.
const (
	Write Kind = iota
	Read
	CompareSwap
	FetchAdd
	Load
	Store
	Add // a locked add
	Tell
	Hear
)

// letters are the kinds' letters in names.
const letters = "wrcalsith"

func (k Kind) verb() bool     { return k <= FetchAdd }
func (k Kind) message() bool  { return k >= Tell }
func (k Kind) access() bool   { return k < Tell }
func (k Kind) modifies() bool { return k.access() && k != Read && k != Load }

// returns reports whether the statement has a value in the final state.
func (k Kind) returns() bool { return k.access() && k != Write && k != Store }

// Stmt is a statement of a program.
type Stmt struct {
	Kind  Kind
	Loc   uint8 // 0 or 1: x or y
	QP    uint8 // 0 or 1
	Fence bool  // of a verb; of a load: preceded by an mfence
	Wait  bool  // the thread waits for the completion
	To    uint8 // the receiver of a Tell
}

// The threads of a program.
const (
	A = iota // posts on queue pairs to B
	C        // likewise
	B        // the CPU that owns the memory
	threads
)

const threadNames = "ACB"

// Program consists of the statements of each thread.
type Program struct {
	Threads [threads][]Stmt
}

// cost is a statement's contribution to the size of its program; a message counts where
// it is sent.
func (s Stmt) cost() int {
	n := 1
	if s.Kind == Hear {
		n = 0
	}
	if s.Fence {
		n++
	}
	if s.Wait {
		n++
	}
	return n
}

// Size is the number of accesses, fences, waits and messages, plus one for each
// second queue pair.
func (p *Program) Size() int {
	n := 0
	for _, body := range p.Threads {
		var used uint8
		for _, s := range body {
			n += s.cost()
			used |= s.queue()
		}
		n += second(used)
	}
	return n
}

// queue is the queue pair that s uses, as a bit.
func (s Stmt) queue() uint8 {
	if s.Kind.verb() {
		return 1 << s.QP
	}
	return 0
}

// second is the contribution of a thread's queue pairs to the size.
func second(used uint8) int {
	if used == 3 {
		return 1
	}
	return 0
}

func (s Stmt) text(b *strings.Builder) {
	b.WriteByte(letters[s.Kind])
	switch {
	case s.Kind == Tell:
		b.WriteByte(threadNames[s.To])
	case s.Kind.access():
		b.WriteByte("xy"[s.Loc])
	}
	if s.QP > 0 {
		b.WriteByte('2')
	}
	if s.Fence {
		b.WriteByte('f')
	}
	if s.Wait {
		b.WriteByte('w')
	}
}

// String is the name of the program.
func (p *Program) String() string {
	var b strings.Builder
	for i, body := range p.Threads {
		if len(body) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		b.WriteByte(threadNames[i])
		for _, s := range body {
			b.WriteByte('-')
			s.text(&b)
		}
	}
	return b.String()
}

// ErrName is wrapped by errors about names of programs.
var ErrName = errors.New("generate: bad name of a program")

// Parse parses the name of a program. The error wraps [ErrName] if it is invalid, and
// [ErrProgram] if [All] omits the program.
func Parse(name string) (*Program, error) {
	p := &Program{}
	for part := range strings.SplitSeq(name, "_") {
		words := strings.Split(part, "-")
		t := strings.Index(threadNames, words[0])
		if t < 0 || len(words[0]) != 1 || p.Threads[t] != nil {
			return nil, fmt.Errorf("%w: %q: a thread is A, C or B, once each, as in A-wx-wy_B-ly-lx", ErrName, words[0])
		}
		for _, w := range words[1:] {
			s, err := parseStmt(w)
			if err != nil {
				return nil, err
			}
			p.Threads[t] = append(p.Threads[t], s)
		}
	}
	return p, p.Validate()
}

func parseStmt(w string) (s Stmt, err error) {
	bad := fmt.Errorf("%w: %q: a statement is one of the letters %s, a location (x, y) or whom it tells, and 2, f, w in this order",
		ErrName, w, strings.Join(strings.Split(letters, ""), " "))
	if w == "" {
		return s, bad
	}
	k := strings.IndexByte(letters, w[0])
	if k < 0 {
		return s, bad
	}
	s.Kind, w = Kind(k), w[1:]
	if s.Kind != Hear {
		names := "xy"
		if s.Kind == Tell {
			names = threadNames
		}
		at := -1
		if w != "" {
			at = strings.IndexByte(names, w[0])
		}
		if at < 0 {
			return s, bad
		}
		if w = w[1:]; s.Kind == Tell {
			s.To = uint8(at)
		} else {
			s.Loc = uint8(at)
		}
	}
	if w, s.Fence, s.Wait = flags(w, &s); w != "" {
		return s, bad
	}
	return s, nil
}

// flags parses the letters after a location, and returns the rest.
func flags(w string, s *Stmt) (rest string, fence, wait bool) {
	if rest, ok := strings.CutPrefix(w, "2"); ok {
		w, s.QP = rest, 1
	}
	w, fence = strings.CutPrefix(w, "f")
	w, wait = strings.CutPrefix(w, "w")
	return w, fence, wait
}
