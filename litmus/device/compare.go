package device

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Rig is a set of cards to run tests on. Use it for one test at a time.
type Rig struct {
	cfg Config
}

// NewRig makes a rig of the configured cards. The error wraps [ErrConfig].
func NewRig(cfg Config) (*Rig, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Rig{cfg: cfg.complete()}, nil
}

// Report is the result of one test.
type Report struct {
	Test    *lang.Test
	Profile string
	// Skipped is why the test was not run; empty: it was.
	Skipped string
	// Refused is why the cards could not carry out what the profile can, and RefusedWhy
	// the known reason for that; see Seen.
	Refused    error
	RefusedWhy string
	Runs       int // that finished
	LeftOut    int // runs in which a loop gave up; included in Runs
	Cut        int // runs in which a link was cut at random; included in Runs
	Seen       []Seen
	Allowed    []string // all final states that the profile allows
	Elapsed    time.Duration
}

// Seen is a final state that the cards have shown.
type Seen struct {
	State   string
	Count   int
	Late    int // how often a completion came after a thread had stopped waiting for it
	Allowed bool
	Why     string // if it is not allowed, but one of Config.Known
}

// OK reports whether the cards did nothing that the profile forbids, except for known
// differences.
func (r *Report) OK() bool {
	return (r.Refused == nil || r.RefusedWhy != "") &&
		!slices.ContainsFunc(r.Seen, func(s Seen) bool { return !s.Allowed && s.Why == "" })
}

// Nothing reports whether no run had an outcome: in each a loop gave up, so
// nothing is known. (A test that cannot have an outcome in any run is skipped.)
func (r *Report) Nothing() bool { return r.Runs > 0 && r.LeftOut == r.Runs }

// Differs reports whether the cards did something that the profile forbids.
func (r *Report) Differs() bool {
	return r.Refused != nil || slices.ContainsFunc(r.Seen, func(s Seen) bool { return !s.Allowed })
}

// Unseen returns the final states that the profile allows and the cards did not show.
func (r *Report) Unseen() []string {
	var out []string
	for _, a := range r.Allowed {
		if !slices.ContainsFunc(r.Seen, func(s Seen) bool { return s.State == a }) {
			out = append(out, a)
		}
	}
	return out
}

// Compare runs a test. An error means that something is wrong with the test or the
// machine; the report has the differences from the profile.
func (r *Rig) Compare(t *lang.Test) (*Report, error) {
	x, err := r.begin(t)
	if err != nil {
		return nil, err
	}
	if err := x.runs(r.cfg.Runs, r.cfg.MaxTime); err != nil {
		return nil, err
	}
	return x.report(), nil
}

// CompareAll runs tests within a shared time. Each test first gets Config.Least runs, within an
// equal share of the time, but at least one run. Then the tests take turns until each has had
// Config.Runs; a test with more unobserved allowed states gets longer turns. The time does not
// include the searches in the simulator.
//
// If a test fails, CompareAll returns the error with the reports of all runs before it.
func (r *Rig) CompareAll(tests []*lang.Test, total time.Duration) ([]*Report, error) {
	var all []*trial
	for _, t := range tests {
		x, err := r.begin(t)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	err := r.share(all, total)
	var out []*Report
	for _, x := range all {
		out = append(out, x.report())
	}
	return out, err
}

// share runs the trials within a shared time.
func (r *Rig) share(all []*trial, total time.Duration) error {
	start, part := time.Now(), total/time.Duration(max(len(all), 1))
	for _, x := range all {
		if err := x.runs(min(r.cfg.Least, r.cfg.Runs), part); err != nil {
			return err
		}
	}
	for {
		going := false
		for _, x := range all {
			left := total - time.Since(start)
			if left <= 0 || r.stopped() {
				return nil
			}
			if x.over || x.rep.Runs >= r.cfg.Runs {
				continue
			}
			going = true
			if err := x.runs(r.cfg.Runs, min(left, turn*time.Duration(min(1+x.unseen(), 10)))); err != nil {
				return err
			}
		}
		if !going {
			return nil
		}
	}
}

// turn is the time of a test in a round, and the extra time for each allowed final state that it has not shown.
const turn = 50 * time.Millisecond

// stopped reports whether Config.Stop asks the rig to stop.
func (r *Rig) stopped() bool { return r.cfg.Stop != nil && r.cfg.Stop() }

// hosts makes the hosts of a test.
func (r *Rig) hosts(t *lang.Test, n *network) ([]host.Host, error) {
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
