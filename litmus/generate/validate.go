package generate

import (
	"errors"
	"fmt"
)

// ErrProgram is wrapped by errors about programs that [All] omits.
var ErrProgram = errors.New("generate: a program that is left out")

// leftOut is why a program is omitted. It formats its text only on demand, since most
// enumerated programs are omitted.
type leftOut struct {
	format string
	name   byte
}

func left(format string, name ...byte) error {
	e := &leftOut{format: format}
	if len(name) > 0 {
		e.name = name[0]
	}
	return e
}

func (e *leftOut) Unwrap() error { return ErrProgram }

func (e *leftOut) Error() string {
	text := e.format
	if e.name != 0 {
		text = fmt.Sprintf(text, e.name)
	}
	return ErrProgram.Error() + ": " + text
}

// Validate returns why [All] omits a program, nil if it does not; it does not check
// whether the program is canonical.
func (p *Program) Validate() error {
	verbs := 0
	for t, body := range p.Threads {
		if err := bodyOK(t, body); err != nil {
			return err
		}
		for _, s := range body {
			if s.Kind.verb() {
				verbs++
			}
		}
	}
	if verbs == 0 {
		return left("it has no verb")
	}
	if err := p.conflicts(); err != nil {
		return err
	}
	return p.messages()
}

// bodyOK checks each thread by itself.
func bodyOK(t int, body []Stmt) error {
	var pending [2]bool // by queue pair: a request was posted and not waited for
	stored := false
	for i, s := range body {
		last := i == len(body)-1
		switch {
		case s.Kind.verb() == (t == B) && s.Kind.access():
			return left("%c cannot do this: A and C post verbs, and B is a CPU", threadNames[t])
		case s.QP > 1 || s.Loc > 1 || s.To >= threads:
			return left("there are two locations, two queue pairs and three threads")
		case !s.Kind.verb() && (s.QP > 0 || s.Wait), s.Fence && !s.Kind.verb() && s.Kind != Load, s.Kind.message() && s.Loc > 0,
			s.Kind != Tell && s.To > 0:
			return left("%c does not take this", letters[s.Kind])
		case s.Fence && s.Kind.verb() && !pending[s.QP]:
			return left("a fence has nothing to wait for")
		case s.Fence && s.Kind == Load && !stored:
			return left("an mfence has nothing to drain")
		case s.Wait && last:
			return left("a wait has nothing behind it")
		case s.Kind == Tell && i == 0, s.Kind == Hear && last:
			return left("a message orders nothing")
		}
		if s.Kind.verb() {
			pending[s.QP] = !s.Wait
		}
		switch s.Kind {
		case Store:
			stored = true
		case Add:
			stored = false // a locked instruction drains
		case Load:
			stored = stored && !s.Fence
		}
	}
	return nil
}

// conflicts checks that some order is visible at each location, and that locations join
// the threads.
func (p *Program) conflicts() error {
	var touched, changed [2]int
	var joins [threads]int // by thread: the locations that it touches
	for t, body := range p.Threads {
		for _, s := range body {
			if !s.Kind.access() {
				continue
			}
			touched[s.Loc]++
			if s.Kind.modifies() {
				changed[s.Loc]++
			}
			joins[t] |= 1 << s.Loc
		}
	}
	for l := range touched {
		if touched[l] == 1 || touched[l] > 0 && changed[l] == 0 {
			return left("no order can be seen at %c", "xy"[l])
		}
	}
	both := false
	for _, j := range joins {
		both = both || j == 3
	}
	for t, j := range joins {
		if j == 0 && len(p.Threads[t]) > 0 {
			return left("%c touches no location", threadNames[t])
		}
	}
	if touched[0] > 0 && touched[1] > 0 && !both {
		return left("it is two programs side by side")
	}
	return nil
}

// messages checks that there is at most one message and that it can order something. A
// requester's posted requests are not ordered by a message: they can take effect at any
// later time.
func (p *Program) messages() error {
	told, heard := -1, -1
	to := 0
	for t, body := range p.Threads {
		waited := t == B
		for _, s := range body {
			waited = waited || s.Wait
			switch {
			case s.Kind == Tell && (told >= 0 || int(s.To) == t):
				return left("there is more than one message, or one to oneself")
			case s.Kind == Tell && !waited:
				return left("nothing has completed before the message")
			case s.Kind == Tell:
				told, to = t, int(s.To)
			case s.Kind == Hear && heard >= 0:
				return left("there is more than one message")
			case s.Kind == Hear:
				heard = t
			}
		}
	}
	if told >= 0 != (heard >= 0) || told >= 0 && to != heard {
		return left("a message goes to one thread, which must wait for it")
	}
	return nil
}
