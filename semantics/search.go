package semantics

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors of a search.
var (
	// ErrLimit: the program has more states than the caller allows.
	ErrLimit = errors.New("semantics: too many states")
	// ErrRefused: a statement cannot be carried out, and has no register for its result.
	ErrRefused = errors.New("semantics: a statement cannot be carried out")
)

// Result is the result of a search.
type Result struct {
	Finals []string // the final states, sorted, as package litmus writes them
	States int      // number of visited states
}

// Run searches all runs of a test that litmus.Parse accepts, under a profile such as
// strong+CellBytes=1, and visits at most limit states.
func Run(t *lang.Test, profile string, limit int) (r Result, err error) {
	prof, err := faults.ProfileByName(profile)
	if err != nil {
		return r, err
	}
	p, err := compile(t, prof)
	if err != nil {
		return r, err
	}
	defer func() {
		if x := recover(); x != nil {
			stop, ok := x.(refusal)
			if !ok {
				panic(x)
			}
			r, err = Result{}, stop.error
		}
	}()
	first := p.start()
	visited := map[string]bool{first.text(): true}
	finals := map[string]bool{}
	for todo := []*state{first}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, given := s.steps()
		if len(next) == 0 && !given {
			finals[s.final()] = true
		}
		for _, n := range append(next, s.faultsAnywhere()...) {
			n.tidy()
			text := n.text()
			if visited[text] {
				continue
			}
			if len(visited) >= limit {
				return r, fmt.Errorf("%w: more than %d", ErrLimit, limit)
			}
			visited[text] = true
			todo = append(todo, n)
		}
	}
	for f := range finals {
		r.Finals = append(r.Finals, f)
	}
	slices.Sort(r.Finals)
	r.States = len(visited)
	return r, nil
}

// refusal ends a search.
type refusal struct{ error }

// start is the state before the first step: all hosts are up, all queue pairs connected.
func (p *program) start() *state {
	n := len(p.hosts)
	s := &state{program: p, up: make([]bool, n), zombie: make([]bool, n), cut: make([]link, n*n), valid: make([]bool, len(p.regions)), queues: make([][]completion, len(p.cqs))}
	for i := range s.up {
		s.up[i] = true
	}
	for i := range s.valid {
		s.valid[i] = true
	}
	for _, b := range p.blocks {
		s.memory = append(s.memory, b.init)
		kept := ""
		if b.persistent {
			kept = b.init
		}
		s.durable = append(s.durable, kept)
	}
	for _, l := range p.labels {
		s.private = append(s.private, string(make([]byte, l.bytes)))
	}
	for i, e := range p.ends {
		s.current = append(s.current, i)
		s.ends = append(s.ends, end{state: verbs.StateRTS, access: e.access, psn: e.psn})
	}
	for _, e := range p.ends {
		if e.next != 0 {
			s.ends[e.next] = end{state: verbs.StateReset, destroyed: true}
		}
	}
	s.threads = make([]thread, len(p.threads))
	for t := range s.threads {
		s.threads[t].done, s.threads[t].ended = len(p.threads[t].steps) == 0, p.threads[t].recovers
	}
	return s
}

// steps returns every state that one step leads to. The ends of queue pairs take their steps
// independently: no-order-across-qps. given reports whether a thread gave up the run at a
// loop that would continue.
func (s *state) steps() (next []*state, given bool) {
	for t := range s.threads {
		n, up := s.statement(t)
		next, given = append(next, n...), given || up
		next = append(next, s.storeBuffer(t)...)
	}
	for e := range s.ends {
		next = append(next, s.sourceReadLate(e)...)
		next = append(next, s.arrival(e)...)
		next = append(next, s.placement(e)...)
		next = append(next, s.readExecutes(e)...)
		next = append(next, s.atomicExecutes(e)...)
		next = append(next, s.flushPersists(e)...)
		next = append(next, s.atomicWriteIsWhole(e)...)
		next = append(next, s.completionsInOrder(e)...)
		next = append(next, s.responseMayBeEarly(e)...)
		next = append(next, s.receiveCompletes(e)...)
		next = append(next, s.errorFlushesQueue(e)...)
		next = append(next, s.localProtection(e)...)
		next = append(next, s.retryExhausted(e)...)
		next = append(next, s.rnr(e)...)
		next = append(next, s.failedWriteIsAmbiguous(e)...)
	}
	next = append(next, s.partitionHeals()...)
	return append(next, s.cacheWriteBackOrder()...), given
}
