package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// trial is a test on the cards, and what it has shown so far.
type trial struct {
	rig  *Rig
	test *lang.Test // as cards can run it
	rep  *Report
	over bool // it has no more runs
}

// begin searches for what the profile allows.
func (r *Rig) begin(t *lang.Test) (*trial, error) {
	start := time.Now()
	x := &trial{rig: r, rep: &Report{Test: t, Profile: r.cfg.Profile}}
	defer func() { x.rep.Elapsed += time.Since(start) }()
	var why string
	if x.test, why = r.portable(t); why != "" {
		x.skip(why)
		return x, nil
	}
	res, err := litmus.Run(t, r.cfg.Profile, litmus.Options{NoRuns: true, MaxTime: time.Minute, Stop: r.cfg.Stop})
	if err != nil {
		return nil, err
	}
	if res.Reason != nil {
		x.skip("the simulator has no answer: " + res.Reason.Error())
	}
	x.rep.Allowed = res.Finals
	return x, nil
}

func (x *trial) skip(why string) { x.rep.Skipped, x.over = why, true }

// unseen is the number of final states that the profile allows and the cards have not shown.
func (x *trial) unseen() int { return len(x.rep.Unseen()) }

// runs runs the test until it has had so many runs, for so long at most; 0: no limit.
func (x *trial) runs(most int, limit time.Duration) error {
	if x.over {
		return nil
	}
	start := time.Now()
	err := x.some(most, limit)
	x.rep.Elapsed += time.Since(start)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, verbs.ErrUnsupported):
		x.skip("the cards cannot: " + err.Error())
	case errors.Is(err, litmus.ErrRefused):
		x.rep.Refused, x.rep.RefusedWhy, x.over = err, x.rig.known(x.rep.Test.Name, refused), true
	case errors.Is(err, verbs.ErrInvalid), errors.Is(err, host.ErrNoMemory): // set-up failed
		x.skip("it is too much for the cards: " + err.Error())
	default:
		return fmt.Errorf("%s: %w", x.rep.Test.Name, err)
	}
	return nil
}

// some sets the test up and runs it.
func (x *trial) some(most int, limit time.Duration) (err error) {
	r, t, start := x.rig, x.test, time.Now()
	net := newNetwork(r.cfg.Patience)
	hosts, err := r.hosts(t, net)
	if err != nil {
		return err
	}
	var p *pauses
	var m *moment
	var live *litmus.Live
	cuts := &cuts{links: r.cfg.Links, net: net, hosts: t.Hosts}
	live, err = litmus.NewLive(t, hosts, litmus.LiveConfig{Patience: r.cfg.Patience, Strike: cuts.strike, Heal: cuts.heal,
		Pause: func(i int) {
			if m != nil {
				m.pass(live)
			}
			p.pause(i)
		}})
	if err != nil {
		return err
	}
	defer func() {
		if e := live.Close(); err == nil {
			err = e
		}
	}()
	link, anywhere := cutAnywhere(t)
	for first := true; x.rep.Runs < most && (first || limit == 0 || time.Since(start) < limit) && !r.stopped(); first = false {
		p = newPauses(r.cfg.Seed, t.Name, x.rep.Runs, len(t.Threads))
		if anywhere && r.cfg.Links != nil {
			m = newMoment(rand.New(rand.NewPCG(r.cfg.Seed, uint64(x.rep.Runs))), link, statements(t))
		}
		state, err := live.Run()
		switch healed := cuts.healAll(); {
		case healed != nil:
			return healed
		case m != nil && m.err != nil:
			return m.err
		case errors.Is(err, litmus.ErrLeftOut):
			x.rep.LeftOut++
		case err != nil:
			return err
		default:
			x.saw(state, live.Late())
		}
		if m != nil && m.struck() {
			x.rep.Cut++
		}
		x.rep.Runs++
	}
	return nil
}

// statements is the number of statements of the threads of a test.
func statements(t *lang.Test) (n int) {
	for _, th := range t.Threads {
		n += len(th.Body)
	}
	return n
}

// saw counts the final state of a run.
func (x *trial) saw(state string, late bool) {
	i, found := slices.BinarySearchFunc(x.rep.Seen, state, func(s Seen, state string) int { return strings.Compare(s.State, state) })
	if !found {
		x.rep.Seen = slices.Insert(x.rep.Seen, i, Seen{State: state, Allowed: slices.Contains(x.rep.Allowed, state)})
	}
	s := &x.rep.Seen[i]
	s.Count++
	if late {
		s.Late++
	}
}

// report returns the results of the test, with the known reasons.
func (x *trial) report() *Report {
	for i := range x.rep.Seen {
		s := &x.rep.Seen[i]
		if s.Allowed {
			continue
		}
		if s.Why = x.rig.known(x.rep.Test.Name, s.State); s.Why == "" && s.Late == s.Count {
			s.Why = x.rig.known(x.rep.Test.Name, late)
		}
	}
	return x.rep
}
