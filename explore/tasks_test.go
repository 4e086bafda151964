package explore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// shares is what the two tasks of a host use.
type shares struct {
	h    host.Host
	pd   verbs.PD
	none verbs.PD    // nothing belongs to it
	r    host.Region // not registered
	pm   host.Region // not registered either
	mr   verbs.MR    // of memory that only the host's own card can reach
	ch   verbs.CompChannel
	bare verbs.CompChannel // without CQs
	cq   verbs.CQ          // without queue pairs
	ccq  verbs.CQ          // the same, of the channel ch
	new  verbs.PreparedQP
	bad  verbs.QP // in ERR
	mu   host.Mutex
	cond host.Cond
	req  host.Request
}

func got[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func share(h host.Host) *shares {
	s := &shares{h: h, pd: got(h.Device().AllocPD()), none: got(h.Device().AllocPD()), r: got(h.Alloc(8)), pm: got(h.OpenPMEM("log", 8)),
		ch: got(h.Device().CreateCompChannel()), bare: got(h.Device().CreateCompChannel()), cq: got(h.Device().CreateCQ(1, nil)), mu: h.NewMutex()}
	s.mr = got(s.pd.RegisterMR(got(h.Alloc(8)), verbs.LocalWrite))
	s.ccq = got(h.Device().CreateCQ(1, s.ch))
	s.cond = h.NewCond(s.mu)
	qpCQ := got(h.Device().CreateCQ(16, nil))
	s.new = got(s.pd.CreateQP(verbs.QPConfig{SendCQ: qpCQ, RecvCQ: qpCQ, MaxInline: 8}))
	bad := got(s.pd.CreateQP(verbs.QPConfig{SendCQ: qpCQ, RecvCQ: qpCQ, MaxInline: 8}))
	s.bad = got(bad.Connect(bad.Endpoint()))
	if err := s.bad.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr}); err != nil {
		panic(err)
	}
	return s
}

// named describes the result of an operation in a word.
func named(err error) string {
	for name, target := range map[string]error{"closed": verbs.ErrClosed, "busy": verbs.ErrBusy, "invalid": verbs.ErrInvalid, "bounds": host.ErrBounds,
		"state": verbs.ErrState} {
		if errors.Is(err, target) {
			return name
		}
	}
	if errors.Is(err, host.ErrClosed) {
		return "closed"
	}
	return fmt.Sprint(err)
}

func second[T any](_ T, err error) error { return err }

func (s *shares) register() error { return second(s.none.RegisterMR(s.r, verbs.LocalWrite)) }
func (s *shares) queue() error {
	return second(s.pd.CreateQP(verbs.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, MaxInline: 8}))
}
func (s *shares) onChannel(ch verbs.CompChannel) error {
	return second(s.h.Device().CreateCQ(1, ch))
}

// sleep waits until it is woken.
func (s *shares) sleep() error {
	s.mu.Lock()
	s.cond.Wait()
	s.mu.Unlock()
	return nil
}

// panics returns the error with which f panics.
func panics(f func()) func() error {
	return func() (err error) {
		defer func() {
			if x, ok := recover().(error); ok {
				err = x
			}
		}()
		f()
		return nil
	}
}

// between are operations of two tasks of a host. The other's may come between a check
// of the first and its operation, which then has the given result.
var between = []struct {
	name       string
	own, other func(s *shares) error
	want       string // of both, and the result of their caller
}{
	{"deallocate against register", func(s *shares) error { return s.none.Dealloc() }, (*shares).register, "busy | <nil> | "},
	{"register against deallocate", (*shares).register, func(s *shares) error { return s.none.Dealloc() }, "closed | <nil> | "},
	{"register against free", (*shares).register, func(s *shares) error { return s.r.Free() }, "invalid | <nil> | "},
	{"register against another", func(s *shares) error {
		return fmt.Errorf("key %d", got(s.pd.RegisterMR(s.r, verbs.LocalWrite)).LKey())
	}, (*shares).register, "key 3 | <nil> | "},
	{"deregister against deregister", func(s *shares) error { return s.mr.Dereg() }, func(s *shares) error { return s.mr.Dereg() }, "closed | <nil> | "},
	{"free persistent memory against register", func(s *shares) error { return s.pm.Free() },
		func(s *shares) error { return second(s.pd.RegisterMR(s.pm, verbs.LocalWrite)) }, "busy | <nil> | "},
	{"open against open", func(s *shares) error { return second(s.h.OpenPMEM("new", 8)) },
		func(s *shares) error { return second(s.h.OpenPMEM("new", 16)) }, "bounds | <nil> | "},
	{"allocate against another", func(s *shares) error { return fmt.Errorf("at %d", got(s.h.Alloc(8)).Addr()>>32) },
		func(s *shares) error { return second(s.h.Alloc(8)) }, "at 5 | <nil> | "},
	{"store against free", func(s *shares) error { return panics(func() { s.r.Store64(0, 1) })() }, func(s *shares) error { return s.r.Free() }, "closed | <nil> | "},
	{"flush against free", func(s *shares) error { return panics(func() { s.r.Flush(0, 8) })() }, func(s *shares) error { return s.r.Free() }, "closed | <nil> | "},

	{"destroy a CQ against a queue pair", func(s *shares) error { return s.cq.Destroy() }, (*shares).queue, "busy | <nil> | "},
	{"wait against the end of the CQ", func(s *shares) error { return second(s.cq.Wait(make([]verbs.WC, 1), verbs.Forever)) },
		func(s *shares) error { return s.cq.Destroy() }, "closed | <nil> | "},
	{"destroy a channel against a CQ", func(s *shares) error { return s.bare.Destroy() }, func(s *shares) error { return s.onChannel(s.bare) }, "busy | <nil> | "},
	{"a CQ against the end of the channel", func(s *shares) error { return s.onChannel(s.bare) }, func(s *shares) error { return s.bare.Destroy() }, "closed | <nil> | "},
	{"wait against the end of the channel", func(s *shares) error { return second(s.bare.Wait(verbs.Forever)) },
		func(s *shares) error { return s.bare.Destroy() }, "closed | <nil> | "},
	{"gather against the end of a CQ", func(s *shares) error { return s.ch.Gather([]verbs.CQ{s.ccq}, make([]verbs.WC, 1), verbs.Forever) },
		func(s *shares) error { return s.ccq.Destroy() }, "closed | <nil> | "},

	{"a queue pair against the end of its CQ", (*shares).queue, func(s *shares) error { return s.cq.Destroy() }, "closed | <nil> | "},
	{"connect against destroy", func(s *shares) error { return second(s.new.Connect(s.new.Endpoint())) }, func(s *shares) error { return s.new.Destroy() }, "closed | <nil> | "},
	{"destroy a failed queue pair against the same", func(s *shares) error { return s.bad.Destroy() }, func(s *shares) error { return s.bad.Destroy() }, "closed | <nil> | "},

	{"signal against a wait", func(s *shares) error { s.cond.Signal(); return nil }, (*shares).sleep, "<nil> | <nil> | "},
	{"broadcast against a wait", func(s *shares) error { s.cond.Broadcast(); return nil }, (*shares).sleep, "<nil> | <nil> | "},
	{"answer against answer", func(s *shares) error { s.req.Reply([]byte{1}); return nil }, func(s *shares) error { s.req.Reply([]byte{2}); return nil }, "<nil> | <nil> | 2"},
}

// Other tasks of a host can observe each operation of a task, and come between any two
// of theirs.
func TestTasksComeBetweenOperations(t *testing.T) {
	sequential(t)
	for _, x := range between {
		for _, profile := range []string{"strong", "strong+StoreBuffers=false"} {
			t.Run(x.name+"/"+profile, func(t *testing.T) { comesBetween(t, profile, x.name, x.own, x.other, x.want) })
		}
	}
}

func comesBetween(t *testing.T, profile, name string, own, other func(s *shares) error, want string) {
	s := &explore.Scenario{Name: "test/tasks", Profile: profile, Build: func(c *explore.Case) (sim.Config, error) {
		said := &tiny{c: c}
		c.OnReset(func() { said.logs = make([][]string, 3); c.Outcome("nothing") })
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			s, seen := share(h), got(h.Alloc(8))
			if name == "answer against answer" {
				s.req = got(got(h.Listen("s")).Accept(verbs.Forever))
			}
			h.Go("other", func() {
				seen.Store64(0, 1)
				said.say(1, "%s", named(other(s)))
			})
			if seen.Load64(0) == 0 {
				said.say(0, "%s", named(own(s)))
			}
		}}
		b := sim.Node{Name: "b", Main: func(h host.Host, _ int) {
			if name == "answer against answer" {
				said.say(2, "%d", got(h.Call("a", "s", nil, verbs.Forever))[0])
			}
		}}
		return sim.Config{Nodes: []sim.Node{a, b}, Profile: c.Profile, Linger: true}, nil
	}}
	if naive := sameAsNaive(t, s); !slices.Contains(naive, want) {
		t.Errorf("there is no outcome %q among %q", want, naive)
	}
}

// sameAsNaive compares the outcomes that the searches find with those of the naive search in eager mode.
func sameAsNaive(t *testing.T, s *explore.Scenario) []string {
	t.Helper()
	naive, _, whole, err := explore.Naive(s, explore.Options{}, true, 200_000)
	if err != nil || !whole {
		t.Fatal(whole, err)
	}
	for _, opt := range []explore.Options{{}, {EveryOrder: true}, {EveryOrder: true, Backwards: true}, {Eager: true}} {
		r, err := explore.Check(s, opt)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatal(r, err)
		}
		if d := cmp.Diff(naive, r.Outcomes); d != "" {
			t.Errorf("%+v (-naive +search):\n%s", opt, d)
		}
	}
	return naive
}

// The state says which of two listeners a task has, also when the task that closed one is gone.
func TestWhoHasWhichListener(t *testing.T) {
	sequential(t)
	s := &explore.Scenario{Name: "test/listeners", Profile: "strong", Build: func(c *explore.Case) (sim.Config, error) {
		said := &tiny{c: c}
		c.OnReset(func() { said.logs = make([][]string, 2); c.Outcome("nothing") })
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			for i := range said.logs {
				h.Go(fmt.Sprint("t", i), func() {
					l, err := h.Listen("s")
					if err != nil {
						said.say(i, "taken")
						return
					}
					h.Go("closer", func() {
						if h.Rand(2) == 1 {
							_ = l.Close()
						}
					})
					h.Sleep(time.Second)
					_, err = l.Accept(time.Second)
					said.say(i, "%s", named(err))
				})
			}
		}}
		return sim.Config{Nodes: []sim.Node{a}, Profile: c.Profile, Linger: true}, nil
	}}
	naive := sameAsNaive(t, s)
	for _, want := range []string{"closed | accept s: host: timed out", "accept s: host: timed out | closed"} {
		if !slices.Contains(naive, want) {
			t.Errorf("there is no outcome %q among %q", want, naive)
		}
	}
}
