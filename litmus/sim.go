package litmus

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// simMachine is the machine of package verbs/sim, accessed through a case.
type simMachine struct{ c *explore.Case }

func (s simMachine) Strike(k faults.Kind, hosts ...string) error { return s.c.Inject(k, hosts...) }
func (s simMachine) Heal(a, b string)                            { s.c.Heal(a, b) }
func (s simMachine) Abandon()                                    { s.c.Abandon() }
func (s simMachine) Remember(p fingerprint.Print)                { s.c.History(p) }
func (s simMachine) Patience() time.Duration                     { return verbs.Forever }
func (s simMachine) Again(*threadProg) bool                      { return false }
func (s simMachine) Fail(err error)                              { s.c.Fail(err) }
func (s simMachine) Alive(h host.Host) bool                      { return h.(*sim.Host).Alive() }

// Step is a point at which a fault can strike, if one can end the host.
func (s simMachine) Step(t *threadProg) {
	if t.host.mortal {
		s.c.Point()
	}
}

// Reached is the violation of a run that reaches a watched outcome.
type Reached struct {
	Test, Outcome string
	Final         string
}

func (e *Reached) Error() string {
	return "the run ends in " + e.Final
}

// Class is the class of the violation, by which a replay recognizes it.
func (e *Reached) Class() string { return classOf(e.Outcome) }

const classPrefix = "reaches "

func classOf(outcome string) string { return classPrefix + outcome }

// Scenarios of this package have names with this prefix.
const scenarioPrefix = "litmus/"

// Compile makes a scenario of a test. Its outcomes are the final states; only a run
// that reaches an outcome named in watch is a violation, [Reached].
func Compile(t *lang.Test, watch ...string) (*explore.Scenario, error) {
	p, err := resolve(t)
	if err != nil {
		return nil, err
	}
	for _, w := range watch {
		known := false
		for i := range t.Outcomes {
			known = known || t.OutcomeName(i) == w
		}
		if !known {
			return nil, fmt.Errorf("%w: %s has no outcome %q", lang.ErrTest, t.Name, w)
		}
	}
	return p.scenario(&collected{}, watch), nil
}

// collected is the result of a search of a program.
type collected struct {
	states map[string][]bool // the final states, and which outcomes they match
	runner *runner
}

// scenario builds the world of the program.
func (p *program) scenario(got *collected, watch []string) *explore.Scenario {
	s := &explore.Scenario{Name: scenarioPrefix + p.t.Name, Doc: p.t.Doc, Faults: p.t.Faults, Text: p.t.Text()}
	s.Build = func(c *explore.Case) (sim.Config, error) {
		m := newRunner(p, simMachine{c})
		states := map[string][]bool{}
		got.states, got.runner = states, m
		c.OnReset(m.reset)
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget, Linger: true}
		for _, at := range p.hosts {
			n := sim.Node{Name: at.name, Main: func(h host.Host, life int) { m.main(at, h, life) }}
			n.Again = func(_ int, crashed bool) bool { return crashed && at.again }
			cfg.Nodes = append(cfg.Nodes, n)
		}
		cfg.Setup = func(hs []*sim.Host) {
			hosts := make([]host.Host, len(hs))
			for i := range hs {
				hosts[i] = hs[i]
			}
			if err := m.setup(hosts); err != nil {
				m.broken(err)
			}
		}
		cfg.AtEnd = func(hs []*sim.Host) {
			if m.refused != nil {
				return
			}
			m.finish(func(h host.Host, r host.Region, off, n int) []byte { return h.(*sim.Host).Settle(r, off, n) })
			text := m.final()
			which, ok := states[text]
			if !ok {
				for _, cond := range p.conds {
					which = append(which, cond(&m.env))
				}
				states[text] = which
			}
			c.Outcome(text)
			for i := range which {
				for _, w := range watch {
					if which[i] && p.t.OutcomeName(i) == w {
						c.Fail(&Reached{p.t.Name, w, text})
					}
				}
			}
		}
		return cfg, nil
	}
	return s
}

// finish completes a final state; settle reads memory when all is quiet.
func (m *runner) finish(settle func(h host.Host, r host.Region, off, n int) []byte) {
	for _, t := range m.p.threads {
		l := m.started[t.idx]
		m.env.blocked[t.idx] = l != nil && !m.env.done[t.idx] && m.machine.Alive(l.h)
	}
	for i, x := range m.p.asked {
		if x.kind != itemMem {
			continue
		}
		lives := m.lives[x.place.loc.block.host.idx]
		l := lives[len(lives)-1]
		if m.machine.Alive(l.h) {
			m.env.asked[i] = valueOf(settle(l.h, l.regions[x.place.loc.block.at], x.place.off, x.place.n))
		}
	}
}

// final formats the final state.
func (m *runner) final() string {
	var out []string
	for i, x := range m.p.asked {
		switch x.kind {
		case itemReg:
			v := m.env.regs[x.reg.idx]
			out = append(out, x.name+"="+v.text(x.reg.kind, x.reg.size, m.p.labels))
		case itemMem:
			text := m.env.asked[i].text(kindValue, x.place.n, nil)
			out = append(out, x.name+"="+text)
		case itemBlocked:
			if m.env.blocked[x.thread.idx] {
				out = append(out, x.name)
			} else {
				out = append(out, "!"+x.name)
			}
		case itemDone:
			if m.env.done[x.thread.idx] {
				out = append(out, x.name)
			} else {
				out = append(out, "!"+x.name)
			}
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}

// FromCounterexample returns the scenario of a litmus test's counterexample: the file
// contains the test's text.
func FromCounterexample(ce *explore.Counterexample) (*explore.Scenario, error) {
	if !IsScenario(ce.Scenario) {
		return nil, fmt.Errorf("%w: %s is no litmus test", lang.ErrTest, ce.Scenario)
	}
	if ce.Text == "" {
		return nil, errors.New("litmus: the counterexample does not hold the text of its test: make it again with `verbatim litmus --out DIR`")
	}
	t, err := Parse(ce.Scenario, []byte(ce.Text))
	if err != nil {
		return nil, err
	}
	return Compile(t, strings.TrimPrefix(ce.Class, classPrefix))
}

// IsScenario reports whether a scenario of that name is a litmus test.
func IsScenario(name string) bool { return strings.HasPrefix(name, scenarioPrefix) }
