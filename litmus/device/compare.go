package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Rig is a set of cards to run tests on. Use it for one test at a time.
type Rig struct {
	cfg Config
	sim litmus.Backend
}

// NewRig takes cards. The error wraps [ErrConfig].
func NewRig(cfg Config) (*Rig, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	sim, err := litmus.BackendByName("sim")
	return &Rig{cfg: cfg.complete(), sim: sim}, err
}

// Report is what came of one test.
type Report struct {
	Test    *lang.Test
	Profile string
	// Skipped says why the test was not run; empty: it was.
	Skipped string
	// Refused is why the cards could not carry out what the profile carries out, and
	// RefusedWhy why that is known; see Seen.
	Refused    error
	RefusedWhy string
	Runs       int // that came to an end
	LeftOut    int // runs in which a loop waited in vain; they count in Runs too
	Seen       []Seen
	Allowed    []string // all final states that the profile allows
	Elapsed    time.Duration
}

// Seen is a final state that the cards have shown.
type Seen struct {
	State   string
	Count   int
	Allowed bool
	Why     string // if it is not allowed, and one of Config.Known
}

// OK reports whether the cards did nothing that the profile forbids, known
// differences aside.
func (r *Report) OK() bool {
	return (r.Refused == nil || r.RefusedWhy != "") &&
		!slices.ContainsFunc(r.Seen, func(s Seen) bool { return !s.Allowed && s.Why == "" })
}

// Differs reports whether the cards did something that the profile forbids.
func (r *Report) Differs() bool {
	return r.Refused != nil || slices.ContainsFunc(r.Seen, func(s Seen) bool { return !s.Allowed })
}

// Unseen are the final states that the profile allows and the cards did not show.
func (r *Report) Unseen() []string {
	var out []string
	for _, a := range r.Allowed {
		if !slices.ContainsFunc(r.Seen, func(s Seen) bool { return s.State == a }) {
			out = append(out, a)
		}
	}
	return out
}

// Compare runs a test. An error says that something is wrong with the test or the
// machine; what differs from the profile is in the report.
func (r *Rig) Compare(t *lang.Test) (*Report, error) {
	start := time.Now()
	rep := &Report{Test: t, Profile: r.cfg.Profile}
	x, why := r.portable(t)
	if rep.Skipped = why; why != "" {
		return rep, nil
	}
	res, err := litmus.Run(t, r.cfg.Profile, r.sim, litmus.Options{NoRuns: true, MaxTime: time.Minute, Stop: r.cfg.Stop})
	if err != nil {
		return nil, err
	}
	if res.Reason != nil {
		rep.Skipped = "the simulator has no answer: " + res.Reason.Error()
		return rep, nil
	}
	rep.Allowed = res.Finals
	counts := map[string]int{}
	err = r.run(x, rep, counts)
	switch {
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, verbs.ErrUnsupported):
		rep.Skipped = "the cards cannot: " + err.Error()
	case errors.Is(err, litmus.ErrRefused):
		rep.Refused, rep.RefusedWhy = err, r.known(t.Name, refused)
	case errors.Is(err, verbs.ErrInvalid), errors.Is(err, host.ErrNoMemory): // it could not be set up
		rep.Skipped = "it is too much for the cards: " + err.Error()
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	for s, n := range counts {
		x := Seen{State: s, Count: n, Allowed: slices.Contains(rep.Allowed, s)}
		if !x.Allowed {
			x.Why = r.known(t.Name, s)
		}
		rep.Seen = append(rep.Seen, x)
	}
	sort.Slice(rep.Seen, func(i, j int) bool { return rep.Seen[i].State < rep.Seen[j].State })
	rep.Elapsed = time.Since(start)
	return rep, nil
}

// run runs the test as often as it is to, and counts its final states.
func (r *Rig) run(t *lang.Test, rep *Report, counts map[string]int) (err error) {
	hosts, err := r.hosts(t)
	if err != nil {
		return err
	}
	var p *pauses
	cuts := &cuts{links: r.cfg.Links, hosts: t.Hosts}
	live, err := litmus.NewLive(t, hosts, litmus.LiveConfig{Patience: r.cfg.Patience, Pause: func(i int) { p.pause(i) },
		Strike: cuts.strike, Heal: cuts.heal})
	if err != nil {
		return err
	}
	defer func() {
		if e := live.Close(); err == nil {
			err = e
		}
	}()
	start := time.Now()
	for n := range r.cfg.Runs {
		if n > 0 && r.cfg.MaxTime > 0 && time.Since(start) >= r.cfg.MaxTime || r.cfg.Stop != nil && r.cfg.Stop() {
			return nil
		}
		p = newPauses(r.cfg.Seed, t.Name, n, len(t.Threads))
		state, err := live.Run()
		switch healed := cuts.healAll(); {
		case healed != nil:
			return healed
		case errors.Is(err, litmus.ErrLeftOut):
			rep.LeftOut++
		case err != nil:
			return err
		default:
			counts[state]++
		}
		rep.Runs++
	}
	return nil
}

// hosts makes the hosts of a test.
func (r *Rig) hosts(t *lang.Test) ([]host.Host, error) {
	n := &network{patience: r.cfg.Patience, services: map[string]chan *message{}}
	var out []host.Host
	for i, name := range t.Hosts {
		h, err := oshost.New(oshost.Config{Name: name, Device: r.cfg.Devices[i%len(r.cfg.Devices)]})
		if err != nil {
			return nil, err
		}
		out = append(out, &member{Host: h, net: n, rand: rand.New(rand.NewPCG(r.cfg.Seed, uint64(i)))})
	}
	return out, nil
}

// cuts are the links that a run has cut.
type cuts struct {
	links Links
	hosts []string
	mu    sync.Mutex
	open  [][2]int
}

func (c *cuts) pair(a, b string) [2]int {
	return [2]int{slices.Index(c.hosts, a), slices.Index(c.hosts, b)}
}

func (c *cuts) strike(_ faults.Kind, hosts ...string) error {
	p := c.pair(hosts[0], hosts[1])
	c.mu.Lock()
	c.open = append(c.open, p)
	c.mu.Unlock()
	return c.links.Cut(p[0], p[1])
}

func (c *cuts) heal(a, b string) error {
	p := c.pair(a, b)
	return c.links.Heal(p[0], p[1])
}

// healAll mends what the run has cut.
func (c *cuts) healAll() error {
	var all []error
	for _, p := range c.open {
		all = append(all, c.links.Heal(p[0], p[1]))
	}
	c.open = nil
	return errors.Join(all...)
}
