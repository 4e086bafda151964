package scenario_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// world is a scenario with the hosts of build.
func world(build func(k *scenario.Kit) []sim.Node) *explore.Scenario {
	return &explore.Scenario{Name: "test/world", Profile: "strong", Build: func(c *explore.Case) (sim.Config, error) {
		k := scenario.New(c)
		cfg := k.World(build(k)...)
		cfg.Services = []sim.Service{scenario.Controller()}
		return cfg, nil
	}}
}

// verdict checks a scenario and expects a verdict, and the class of a violation.
func verdict(t *testing.T, s *explore.Scenario, o explore.Options, want explore.Verdict, class string) *explore.Result {
	t.Helper()
	r, err := explore.Check(s, o)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if r.Counterexample != nil {
		got = r.Counterexample.Class
	}
	if r.Verdict != want || got != class {
		t.Fatalf("%s: %v %q %+v, want %s %q", r.Verdict, r.Reason, got, r.Counterexample, want, class)
	}
	return r
}

// A life does one thing or another, and leaves no trace. Then only what the checks
// remember distinguishes the two, so losing the difference misses a violation in the
// next life.
func TestWhatIsRememberedIsNotMerged(t *testing.T) {
	done := func(error) error { return nil }
	for name, build := range map[string]func(k *scenario.Kit) (early, late func(h host.Host) error){
		"an output": func(k *scenario.Kit) (early, late func(host.Host) error) {
			word := k.Record(model.Register{})
			a, b, c := word.Client("early"), word.Client("late"), word.Client("writer")
			return func(h host.Host) error {
					c.Begin(model.RegisterWrite{Value: 1}) // still in progress at the end
					op := a.Begin(model.RegisterRead{})
					op.End(model.RegisterValue{Value: uint64(h.Rand(2))})
					return nil
				}, func(host.Host) error {
					b.Begin(model.RegisterRead{}).End(model.RegisterValue{Value: 0})
					return nil
				}
		},
		"an input": func(k *scenario.Kit) (early, late func(host.Host) error) {
			word := k.Record(model.Register{})
			a, b := word.Client("early"), word.Client("late")
			return func(h host.Host) error {
					return a.Do(model.RegisterWrite{Value: uint64(h.Rand(2))}, func() (any, error) { return model.Done{}, nil })
				}, func(host.Host) error {
					return b.Do(model.RegisterRead{}, func() (any, error) { return model.RegisterValue{Value: 0}, nil })
				}
		},
		"whether it has ended": func(k *scenario.Kit) (early, late func(host.Host) error) {
			word := k.Record(model.Register{})
			a, b := word.Client("early"), word.Client("late")
			return func(h host.Host) error {
					failed := errors.New("no answer")
					return done(a.Do(model.RegisterWrite{Value: 1}, func() (any, error) {
						if h.Rand(2) == 0 {
							return nil, failed
						}
						return model.Done{}, nil
					}))
				}, func(host.Host) error {
					return b.Do(model.RegisterRead{}, func() (any, error) { return model.RegisterValue{Value: 0}, nil })
				}
		},
		"which one has ended":       oneEnds(func(n int) int { return n }),
		"which other one has ended": oneEnds(func(n int) int { return 1 - n }),
		"the first of two parts": func(k *scenario.Kit) (early, late func(host.Host) error) {
			early, late = memory(k)
			scenario.Memory[int](k)
			return early, late
		},
		"the second of two parts": func(k *scenario.Kit) (early, late func(host.Host) error) {
			scenario.Memory[int](k)
			return memory(k)
		},
	} {
		t.Run(name, func(t *testing.T) {
			verdict(t, world(func(k *scenario.Kit) []sim.Node {
				early, late := build(k)
				return []sim.Node{k.Lives(2, nil).Node("app", func(h host.Host, life int) {
					if life == 0 {
						k.Check(early(h))
					} else {
						k.Check(late(h))
					}
				})}
			}), explore.Options{}, explore.Violated, scenario.NotLinearizable)
		})
	}
}

// oneEnds is about two writes, one of which ends with the answer that the other would have.
// Then a read of 2 and one of 1 are possible if 2 has ended, and not if 1 has.
func oneEnds(which func(int) int) func(k *scenario.Kit) (early, late func(host.Host) error) {
	return func(k *scenario.Kit) (early, late func(host.Host) error) {
		word := k.Record(model.Register{})
		a, b, reader := word.Client("a"), word.Client("b"), word.Client("reader")
		return func(h host.Host) error {
				ops := []scenario.Op{a.Begin(model.RegisterWrite{Value: 1}), b.Begin(model.RegisterWrite{Value: 2})}
				ops[which(h.Rand(2))].End(model.Done{})
				return nil
			}, func(host.Host) error {
				reader.Begin(model.RegisterRead{}).End(model.RegisterValue{Value: 2})
				reader.Begin(model.RegisterRead{}).End(model.RegisterValue{Value: 1})
				return nil
			}
	}
}

// Histories of different clients are different, and so are the reports that show them.
func TestClientsAreToldApart(t *testing.T) {
	states := func(n int) uint64 {
		return verdict(t, world(func(k *scenario.Kit) []sim.Node {
			word := k.Record(model.Register{})
			clients := []*scenario.Client{word.Client("a"), word.Client("b")}
			return []sim.Node{k.Lives(2, nil).Node("app", func(h host.Host, life int) {
				if i := h.Rand(2); life == 0 {
					clients[i%n].Begin(model.RegisterRead{})
				}
			})}
		}), explore.Options{Workers: 1}, explore.Verified, "").States
	}
	if one, two := states(1), states(2); one >= two {
		t.Errorf("%d states with requests of one client, and %d with requests of two", one, two)
	}
}

// memory is about a number that one host keeps, and that the other must not find to be
// 1.
func memory(k *scenario.Kit) (early, late func(h host.Host) error) {
	kept := scenario.Memory[struct{ number int }](k)
	return func(h host.Host) error {
			kept.number = h.Rand(2)
			k.History()
			return nil
		}, func(host.Host) error {
			if kept.number == 1 {
				k.Failf(scenario.NotLinearizable, "it is 1")
			}
			return nil
		}
}

// Every part is empty at the beginning of each run, and so is what the checks remember.
func TestPartsAreEmptied(t *testing.T) {
	verdict(t, world(func(k *scenario.Kit) []sim.Node {
		list := scenario.Memory[[]int](k)
		sum := 0
		k.Remember(func() { sum = 0 }, func() fingerprint.Print { return fingerprint.Print{}.Int(sum) })
		return []sim.Node{k.Host("a", func(h host.Host) error {
			if len(*list) > 0 || sum > 0 {
				k.Failf("old", "%v and %d are of a run before", *list, sum)
			}
			*list = append(*list, h.Rand(3))
			sum++
			k.History()
			return nil
		})}
	}), explore.Options{}, explore.Verified, "")
}

// A value without a fingerprint is no violation, and is not ignored.
func TestUndecided(t *testing.T) {
	for name, script := range map[string]func(k *scenario.Kit) func(h host.Host) error{
		"a pointer in the memory": func(k *scenario.Kit) func(h host.Host) error {
			x := scenario.Memory[[]*int](k)
			return func(host.Host) error {
				*x = append(*x, nil)
				k.History()
				return nil
			}
		},
		"a pointer for an input": func(k *scenario.Kit) func(h host.Host) error {
			c := k.Record(model.Register{}).Client("a")
			return func(host.Host) error {
				c.Begin(&model.RegisterRead{})
				return nil
			}
		},
		"an operation of another model": func(k *scenario.Kit) func(h host.Host) error {
			c := k.Record(model.Register{}).Client("a")
			return func(host.Host) error {
				c.Begin(model.RegisterRead{}).End(model.Done{})
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := world(func(k *scenario.Kit) []sim.Node { return []sim.Node{k.Host("a", script(k))} })
			r := verdict(t, s, explore.Options{}, explore.Unknown, "undecided")
			if !errors.Is(r.Reason, explore.ErrUndecided) && !errors.Is(r.Reason, scenario.ErrValue) {
				t.Error(r.Reason)
			}
		})
	}
}

// The viewer gets the operations of a run, with the names of clients and without
// missing results.
func TestOperationsForTheViewer(t *testing.T) {
	s := world(func(k *scenario.Kit) []sim.Node {
		c, j := k.Record(model.Register{}).Client("the client"), k.Journal()
		return []sim.Node{k.Host("a", func(h host.Host) error {
			j.Begin("it", "begins") // never ends
			work := j.Begin("it", "works")
			c.Begin(model.RegisterWrite{Value: 7})
			op := c.Begin(model.RegisterRead{})
			op.End(model.RegisterValue{Value: 0})
			work.End("well")
			return scenario.Failed("end", "this is enough")
		})}
	})
	r, err := verdict(t, s, explore.Options{}, explore.Violated, "end").Counterexample.ReplayFull(s)
	if err != nil {
		t.Fatal(err)
	}
	want := []explore.Operation{
		{Client: "the client", Call: "write(7)", End: -1}, {Client: "the client", Call: "read()", Result: "0"},
		{Client: "it", Call: "begins", End: -1}, {Client: "it", Call: "works", Result: "well"},
	}
	for i, o := range r.Operations {
		if o.Result != "" {
			o.End = 0
		}
		o.Begin = 0
		if i >= len(want) || o != want[i] {
			t.Errorf("%+v, want %+v", r.Operations, want)
			break
		}
	}
	if len(r.Operations) != len(want) {
		t.Errorf("%+v", r.Operations)
	}
}
