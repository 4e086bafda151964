package sim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first makes the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

func strong(t testing.TB) faults.Profile {
	t.Helper()
	p, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func world(t testing.TB, nodes ...sim.Node) *sim.World {
	t.Helper()
	w, err := sim.New(sim.Config{Nodes: nodes, Profile: strong(t), MaxSteps: 2000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func solo(t testing.TB, f func(h host.Host)) (sim.End, error) {
	t.Helper()
	return world(t, sim.Node{Name: "a", Main: func(h host.Host, _ int) { f(h) }}).Run(first{})
}

func TestRunsThatEndBadly(t *testing.T) {
	for reason, x := range map[string]struct {
		f    func(h host.Host)
		end  sim.End
		text string
	}{
		"waits for nobody": {func(h host.Host) {
			l, _ := h.Listen("x")
			_, _ = l.Accept(verbs.Forever)
		}, sim.Deadlock, "a/main in Listener.Accept"},
		"never ends": {func(h host.Host) {
			for {
				h.Sleep(time.Millisecond)
			}
		}, sim.StepLimit, "2000 steps"},
		"spins on memory": {func(h host.Host) {
			r, _ := h.Alloc(8)
			for r.Load64(0) == 0 {
			}
		}, sim.StepLimit, "2000 steps"},
		"spins on an empty queue": {func(h host.Host) {
			cq, _ := h.Device().CreateCQ(1, nil)
			for wc := make([]verbs.WC, 1); ; {
				_, _ = cq.Poll(wc)
			}
		}, sim.StepLimit, "2000 steps"},
		"panics":                {func(host.Host) { panic("oh") }, sim.Violated, "oh"},
		"reads past the region": {func(h host.Host) { r, _ := h.Alloc(8); r.Load64(8) }, sim.Violated, "outside the region"},
		"unlocks what it does not hold": {func(h host.Host) { h.NewMutex().Unlock() }, sim.Violated,
			"does not hold"},
	} {
		t.Run(reason, func(t *testing.T) {
			end, err := solo(t, x.f)
			if end != x.end || err == nil || !strings.Contains(err.Error(), x.text) {
				t.Errorf("%v: %v", end, err)
			}
		})
	}
}

// The trace of a panic names the line of the program that panicked: when the run fails, its stack is gone.
func TestPanicNamesItsLine(t *testing.T) {
	var values []int
	for reason, f := range map[string]func(h host.Host){
		"panic":             func(host.Host) { panic("on purpose") },
		"a runtime error":   func(host.Host) { values[2] = 1 },
		"after a call":      func(h host.Host) { h.Sleep(time.Millisecond); panic("on purpose") },
		"inside a function": func(host.Host) { func() { panic("on purpose") }() },
	} {
		w, tr := world(t, sim.Node{Name: "a", Main: func(h host.Host, _ int) { f(h) }}), &sim.Tracer{}
		w.SetTracer(tr)
		if _, err := w.Run(first{}); err == nil {
			t.Fatalf("%s: the run does not fail", reason)
		}
		last := tr.Events[len(tr.Events)-1]
		if last.Kind != "violation" || !strings.HasPrefix(last.Source, "sim/sim_test.go:") || !strings.HasSuffix(last.File, "/verbs/sim/sim_test.go") {
			t.Errorf("%s: %q at %q of %q", reason, last.Text, last.Source, last.File)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	ok := sim.Node{Name: "a", Main: func(host.Host, int) {}}
	for reason, c := range map[string]sim.Config{
		"no hosts":         {Profile: strong(t)},
		"two of one name":  {Profile: strong(t), Nodes: []sim.Node{ok, ok}},
		"no main":          {Profile: strong(t), Nodes: []sim.Node{{Name: "a"}}},
		"no profile":       {Nodes: []sim.Node{ok}},
		"budget of others": {Profile: strong(t), Nodes: []sim.Node{ok}, Budget: faults.Budget{{Kind: faults.Crash, Hosts: []string{"b"}, Max: 1}}},
	} {
		if _, err := sim.New(c); !errors.Is(err, sim.ErrConfig) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// Tasks of one host take turns under a mutex and wake each other.
func TestMutexAndCond(t *testing.T) {
	sum := 0
	end, err := solo(t, func(h host.Host) {
		m := h.NewMutex()
		c := h.NewCond(m)
		for range 3 {
			h.Go("adder", func() {
				m.Lock()
				sum++
				c.Signal()
				m.Unlock()
			})
		}
		m.Lock()
		for sum < 3 {
			c.Wait()
		}
		m.Unlock()
	})
	if end != sim.Finished || err != nil || sum != 3 {
		t.Errorf("%v %v, sum %d", end, err, sum)
	}
}

func TestPostErrors(t *testing.T) {
	_, err := solo(t, func(h host.Host) {
		d := h.Device()
		pd, _ := d.AllocPD()
		cq, _ := d.CreateCQ(4, nil)
		prep, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSendWR: 2})
		if _, err := prep.Connect(verbs.Endpoint{}); !errors.Is(err, verbs.ErrInvalid) {
			t.Errorf("no endpoint: %v", err)
		}
		self, err := prep.Connect(prep.Endpoint())
		if err != nil {
			t.Fatal(err)
		}
		for reason, x := range map[string]struct {
			wr   verbs.SendWR
			want error
		}{
			"no opcode":        {verbs.SendWR{}, verbs.ErrInvalid},
			"flush of nothing": {verbs.SendWR{Op: verbs.OpFlush}, verbs.ErrInvalid},
			"inline read":      {verbs.SendWR{Op: verbs.OpRead, Flags: verbs.Inline}, verbs.ErrInvalid},
			"too many pieces":  {verbs.SendWR{Op: verbs.OpWrite, SGL: make([]verbs.SGE, 9)}, verbs.ErrInvalid},
		} {
			var p *verbs.PostError
			if err := self.PostSend([]verbs.SendWR{x.wr}); !errors.Is(err, x.want) || !errors.As(err, &p) {
				t.Errorf("%s: %v", reason, err)
			}
		}
		three := make([]verbs.SendWR, 3)
		for i := range three {
			three[i].Op = verbs.OpSend
		}
		var p *verbs.PostError
		if err := self.PostSend(three); !errors.As(err, &p) || p.Index != 2 || !errors.Is(err, verbs.ErrQueueFull) {
			t.Errorf("third of two places: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An Atomic Write may gather its eight bytes.
func TestAtomicWriteFromTwoPieces(t *testing.T) {
	for _, flags := range []verbs.SendFlags{verbs.Signaled, verbs.Signaled | verbs.Inline} {
		var got [8]byte
		_, err := solo(t, func(h host.Host) {
			pd, _ := h.Device().AllocPD()
			cq, _ := h.Device().CreateCQ(4, nil)
			mem, _ := h.Alloc(24)
			mem.Store(0, []byte("abcd....efgh"))
			mr, err := pd.RegisterMR(mem, verbs.LocalWrite|verbs.RemoteWrite)
			if err != nil {
				t.Fatal(err)
			}
			prep, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSendWR: 1, MaxSGE: 2, MaxInline: 8, Access: verbs.RemoteWrite})
			self, err := prep.Connect(prep.Endpoint())
			if err != nil {
				t.Fatal(err)
			}
			piece := func(off uint64) verbs.SGE { return verbs.SGE{Addr: mr.Addr() + off, Length: 4, LKey: mr.LKey()} }
			wr := verbs.SendWR{Op: verbs.OpAtomicWrite, Flags: flags, SGL: []verbs.SGE{piece(0), piece(8)}, RemoteAddr: mr.Addr() + 16, RKey: mr.RKey()}
			if err := self.PostSend([]verbs.SendWR{wr}); err != nil {
				t.Fatal(err)
			}
			wc := make([]verbs.WC, 1)
			if _, err := cq.Wait(wc, verbs.Forever); err != nil || wc[0].Status != verbs.StatusSuccess {
				t.Fatal(wc[0].Status, err)
			}
			mem.Load(16, got[:])
		})
		if err != nil || string(got[:]) != "abcdefgh" {
			t.Errorf("flags %v: %q, %v", flags, got, err)
		}
	}
}
