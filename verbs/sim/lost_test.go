package sim_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// script makes the named steps and stops. takes are the options to choose, in order.
type script struct {
	t     *testing.T
	w     *sim.World
	steps []string
	takes []int
}

func (p *script) Pick(evs []sim.Event) int {
	if len(p.steps) == 0 {
		return -1
	}
	next := p.steps[0]
	p.steps = p.steps[1:]
	var names []string
	for i := range evs {
		name := p.w.EventName(&evs[i])
		if name == next {
			return i
		}
		names = append(names, name)
	}
	p.t.Errorf("%s cannot happen, but %q", next, names)
	return -1
}

func (p *script) Choose(sim.ChoiceKind, int) int {
	if len(p.takes) == 0 {
		return 0
	}
	v := p.takes[0]
	p.takes = p.takes[1:]
	return v
}

// after returns the fingerprint of the state to which the steps lead.
func after(t *testing.T, w *sim.World, takes []int, steps ...string) fingerprint.Print {
	t.Helper()
	if end, err := w.Run(&script{t: t, w: w, steps: steps, takes: takes}); end != sim.Stopped && end != sim.Finished || err != nil {
		t.Fatal(end, err)
	}
	return w.Fingerprint(nil)
}

func listening(t *testing.T, h host.Host, service string) host.Listener {
	l, err := h.Listen(service)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tell(h host.Host, to, service string) {
	h.Gather([]host.Call{{To: to, Service: service}}, verbs.Forever)
}

// toldApart compares the states after two paths: those of the program, which must differ,
// and those of one without the observation that distinguishes them, which must be equal.
func toldApart(t *testing.T, what string, world func(observe bool) *sim.World, one, two path) {
	t.Helper()
	for _, observe := range []bool{false, true} {
		w := world(observe)
		defer w.Close()
		if x, y := after(t, w, one.takes, one.steps...), after(t, w, two.takes, two.steps...); (x != y) != observe {
			t.Errorf("%s: with the observation %v, the states are the same %v", what, observe, x == y)
		}
	}
}

type path struct {
	takes []int
	steps []string
}

// The result of Now used to be missing in the state: a task that had read the clock
// before a timer fired was the same as one that had read it after.
func TestNowIsObserved(t *testing.T) {
	for _, timers := range []string{"idle", "free", "skew(2)"} {
		regime, err := faults.ParseTimers(timers)
		if err != nil {
			t.Fatal(err)
		}
		program := func(observe bool) *sim.World {
			a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
				l := listening(t, h, "s")
				if timers != "idle" { // the timers of others do not move this clock
					h.Go("sleeper", func() { h.Sleep(time.Millisecond) })
				}
				_, _ = l.Accept(verbs.Forever)
				if observe {
					_ = h.Now()
				} else if timers != "idle" {
					h.NewMutex().Lock() // also a step
				}
				_, _ = l.Accept(verbs.Forever)
			}}
			b := sim.Node{Name: "b", Main: func(h host.Host, _ int) {
				late := timers == "idle" && h.Rand(2) == 1
				if late {
					h.Sleep(time.Millisecond)
				}
				tell(h, "a", "s")
				if !late && timers == "idle" {
					h.Sleep(time.Millisecond)
				}
			}}
			w, err := sim.New(sim.Config{Nodes: []sim.Node{a, b}, Profile: strong(t), Timers: regime, Hung: func([]string) {}})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		one := path{[]int{0}, []string{"a.0/main", "b.0/main", "a.0/main", "timer(b.0/main)", "b.0/main"}}
		two := path{[]int{1}, []string{"a.0/main", "b.0/main", "timer(b.0/main)", "b.0/main", "a.0/main", "b.0/main"}}
		if timers != "idle" {
			begin := []string{"a.0/main", "a.0/sleeper1", "a.0/sleeper1", "b.0/main", "a.0/main"} // the sleeper begins to sleep in its own step
			one.steps = append(slices.Clone(begin), "a.0/main", "timer(a.0/sleeper1)")
			two.steps = append(slices.Clone(begin), "timer(a.0/sleeper1)", "a.0/main")
		}
		toldApart(t, timers, program, one, two)
	}
}

// The deadline of pending calls used to be missing in the state until somebody waited for them.
func TestDeadlinesOfCallsDiffer(t *testing.T) {
	program := func(observe bool) *sim.World {
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			l, timeout := listening(t, h, "s"), verbs.Forever
			_, _ = l.Accept(verbs.Forever)
			if observe {
				timeout = time.Second
			}
			h.Gather([]host.Call{{To: "c", Service: "s"}}, timeout)
			_, _ = l.Accept(verbs.Forever)
		}}
		b := sim.Node{Name: "b", Main: func(h host.Host, _ int) {
			late := h.Rand(2) == 1
			if late {
				h.Sleep(time.Millisecond)
			}
			tell(h, "a", "s")
			if !late {
				h.Sleep(time.Millisecond)
			}
		}}
		c := sim.Node{Name: "c", Main: func(h host.Host, _ int) { _, _ = listening(t, h, "never").Accept(verbs.Forever) }}
		w, err := sim.New(sim.Config{Nodes: []sim.Node{a, b, c}, Profile: strong(t), Hung: func([]string) {}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one := path{[]int{0}, []string{"a.0/main", "c.0/main", "b.0/main", "a.0/main", "timer(b.0/main)", "b.0/main"}}
	two := path{[]int{1}, []string{"a.0/main", "c.0/main", "b.0/main", "timer(b.0/main)", "b.0/main", "a.0/main", "b.0/main"}}
	toldApart(t, "calls", program, one, two)
}

// The size of a region of persistent memory that holds nothing yet used to be forgotten at a crash.
func TestSizesOfPersistentMemoryDiffer(t *testing.T) {
	budget, err := faults.ParseBudget("crash(a)<=1")
	if err != nil {
		t.Fatal(err)
	}
	program := func(observe bool) *sim.World {
		w, err := sim.New(sim.Config{Profile: strong(t), Budget: budget, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			size := 64 * (1 + h.Rand(2))
			if !observe {
				size = 64
			}
			if _, err := h.OpenPMEM("log", size); err != nil {
				t.Error(err)
			}
			_, _ = listening(t, h, "never").Accept(verbs.Forever)
		}}}, Hung: func([]string) {}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	toldApart(t, "sizes", program, path{[]int{0, 1}, []string{"a.0/main", "crash(a)"}}, path{[]int{1, 1}, []string{"a.0/main", "crash(a)"}})
}

// A request to a machine that is believed dead used to be the same as one to its successor.
func TestRequestsToAZombieAndToItsSuccessorDiffer(t *testing.T) {
	budget, err := faults.ParseBudget("suspect(b)<=1")
	if err != nil {
		t.Fatal(err)
	}
	a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
		_, _ = h.Call("b", "s", nil, verbs.Forever)
	}}
	b := sim.Node{Name: "b", Main: func(h host.Host, _ int) {
		_, _ = listening(t, h, "s").Accept(verbs.Forever)
	}}
	w, err := sim.New(sim.Config{Nodes: []sim.Node{a, b}, Profile: strong(t), Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	zombie := after(t, w, nil, "b.0/main", "a.0/main", "suspect(b)", "restart(b)", "b.1/main")
	successor := after(t, w, nil, "b.0/main", "suspect(b)", "restart(b)", "b.1/main", "a.0/main")
	if zombie == successor {
		t.Error("the states are the same")
	}
}

// The messages and connections between interchangeable hosts used to be missing in the
// state: whether the hosts are related in pairs or in a ring.
func TestInterchangeableHostsAreRelated(t *testing.T) {
	call := func(h host.Host, to string) { tell(h, to, "s") }
	link := func(h host.Host, to string) {
		pd, _ := h.Device().AllocPD()
		cq, _ := h.Device().CreateCQ(4, nil)
		q, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq})
		e := q.Endpoint()
		e.GID[0] = to[1] - '1'
		_, _ = q.Connect(e)
	}
	for what, relate := range map[string]func(h host.Host, to string){"calls": call, "connections": link} {
		to := map[string]string{}
		c := sim.Config{Profile: strong(t), Hung: func([]string) {}}
		names := []string{"p1", "p2", "p3", "p4"}
		for _, name := range names {
			c.Nodes = append(c.Nodes, sim.Node{Name: name, Symmetric: true, Main: func(h host.Host, _ int) {
				l := listening(t, h, "s")
				relate(h, to[name])
				_, _ = listening(t, h, "never").Accept(verbs.Forever)
				_, _ = l.Accept(verbs.Forever)
			}})
		}
		w, err := sim.New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		related := func(targets ...string) fingerprint.Print {
			var steps []string
			for i, name := range names {
				to[name] = targets[i]
				steps = append(steps, name+".0/main")
			}
			return after(t, w, nil, steps...)
		}
		pairs, ring := related("p2", "p1", "p4", "p3"), related("p2", "p3", "p4", "p1")
		if pairs == ring {
			t.Errorf("%s: pairs and a ring are the same", what)
		}
	}
}

// Hosts that are declared symmetric but are not alike.
func TestSymmetricHostsMustBeAlike(t *testing.T) {
	main := func(host.Host, int) {}
	no := func(int, bool) bool { return false }
	for reason, n := range map[string]sim.Node{
		"a daemon": {Name: "p2", Symmetric: true, Main: main, Daemon: true},
		"Again":    {Name: "p2", Symmetric: true, Main: main, Again: no},
	} {
		c := sim.Config{Profile: strong(t), Nodes: []sim.Node{{Name: "p1", Symmetric: true, Main: main}, n}}
		if _, err := sim.New(c); !errors.Is(err, sim.ErrConfig) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	for text, alike := range map[string]bool{
		"crash(p*)<=1": true, "crash(p1)<=1": false, "cut(a,p*)<=1": true, "cut(a,p2)<=1": false, "cut(p*,p*)<=1": true,
		"cut(p1,p*)<=1": false, "crash(*)<=2, crash(p3)<=0": false, "crash(a)<=1": true,
	} {
		budget, err := faults.ParseBudget(text)
		if err != nil {
			t.Fatal(err)
		}
		c := sim.Config{Profile: strong(t), Budget: budget, Nodes: []sim.Node{{Name: "a", Main: main}}}
		for _, name := range []string{"p1", "p2", "p3"} {
			c.Nodes = append(c.Nodes, sim.Node{Name: name, Symmetric: true, Main: main})
		}
		w, err := sim.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(w.Symmetric()) == 3; got != alike {
			t.Errorf("%s: hosts are interchangeable: %v", text, got)
		}
		w.Close()
	}
}
