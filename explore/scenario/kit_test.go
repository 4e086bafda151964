package scenario_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The controller can be cut off at any moment. Met and unmet conditions are reported;
// those of another scenario are ignored.
func TestControllerIsCutOff(t *testing.T) {
	const cut = "the controller was out of reach"
	s := world(func(k *scenario.Kit) []sim.Node {
		return []sim.Node{k.Host("app", func(h host.Host) error {
			k.Meet("a condition of another scenario")
			err := scenario.Dial(h).Create("key", nil, coord.NoSession)
			if errors.Is(err, coord.ErrUnavailable) {
				k.Meet(cut)
				return nil
			}
			return err
		})}
	})
	s.Sometimes = []string{cut}
	for budget, met := range map[string]bool{"none": false, "partition(app,coord)<=1": true} {
		r := verdict(t, s, explore.Options{Faults: budget}, explore.Verified, "")
		if want := []explore.Condition{{Name: cut, Met: met}}; len(r.Sometimes) != 1 || r.Sometimes[0] != want[0] {
			t.Errorf("%s: %v", budget, r.Sometimes)
		}
	}
}

// A scenario can cut the controller off, restore it, and make it expire sessions and
// lose its data.
func TestControllerObeysTheScenario(t *testing.T) {
	s := world(func(k *scenario.Kit) []sim.Node {
		var mine coord.Session
		k.OnReset(func() { mine = 0 })
		want := func(what string, err, want error) {
			if !errors.Is(err, want) {
				k.Failf("wrong", "%s: %v, want %v", what, err, want)
			}
		}
		other := k.Host("other", func(h host.Host) error {
			_, err := h.Call("app", "other", nil, verbs.Forever)
			c := scenario.Dial(h)
			s, made := c.NewSession()
			want("another's session", c.CheckSession(mine), coord.ErrSessionExpired)
			want("other", errors.Join(err, made, scenario.Expire(h, "app"), c.CheckSession(s)), nil)
			_, _ = h.Call("app", "other", nil, verbs.Forever) // may finish before it is answered
			return nil
		})
		return []sim.Node{other, k.Host("app", func(h host.Host) error {
			c := scenario.Dial(h)
			want("cut off", k.Inject(faults.Partition, "app", scenario.Coord), nil)
			_, err := c.NewSession()
			want("out of reach", err, coord.ErrUnavailable)
			k.Heal("app", scenario.Coord)
			mine, err = c.NewSession()
			want("set up", errors.Join(err, c.Create("a", nil, mine), c.Create("b", nil, coord.NoSession)), nil)
			turn(h, k)
			want("expired", c.CheckSession(mine), coord.ErrSessionExpired)
			_, _, err = c.Get("a")
			want("the session's key", err, coord.ErrNotFound)
			_, _, err = c.Get("b")
			want("the other key", err, nil)
			want("forget", scenario.Forget(h), nil)
			_, _, err = c.Get("b")
			want("a key that was lost", err, coord.ErrNotFound)
			again, err := c.NewSession()
			want("a new session", err, nil)
			if again <= mine {
				k.Failf("wrong", "session %d was given out after %d", again, mine)
			}
			return nil
		})}
	})
	build := s.Build
	s.Build = func(c *explore.Case) (sim.Config, error) {
		cfg, err := build(c)
		cfg.Gate = scenario.Heals(func() bool { return false }) // by itself
		return cfg, err
	}
	verdict(t, s, explore.Options{}, explore.Verified, "")
}

// turn lets the other host run until it calls again.
func turn(h host.Host, k *scenario.Kit) {
	lis, err := h.Listen("other")
	for range 2 {
		var r host.Request
		if err == nil {
			if r, err = lis.Accept(verbs.Forever); err == nil {
				r.Reply(nil)
			}
		}
	}
	k.Check(err)
}

// Orders change the controller: runs that differ in one differ.
func TestOrdersAreNoReads(t *testing.T) {
	const over = "a session was expired"
	for _, order := range []func(h host.Host) error{
		func(h host.Host) error { return scenario.Expire(h, "app") }, scenario.Forget,
	} {
		s := world(func(k *scenario.Kit) []sim.Node {
			return []sim.Node{k.Host("operator", order), k.Host("app", func(h host.Host) error {
				c := scenario.Dial(h)
				s, err := c.NewSession()
				if err == nil && errors.Is(c.CheckSession(s), coord.ErrSessionExpired) {
					k.Meet(over)
				}
				return err
			})}
		})
		s.Sometimes = []string{over}
		if r := verdict(t, s, explore.Options{}, explore.Verified, ""); !r.Sometimes[0].Met {
			t.Error("never: a session is expired between two calls")
		}
	}
}

// The controller's seed is there in each run, and an impossible seed is an error.
func TestSeeds(t *testing.T) {
	build := func(key string) *explore.Scenario {
		return &explore.Scenario{Name: "test/seeds", Profile: "strong", Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			cfg := k.World(k.Host("app", func(h host.Host) error {
				got, version, err := scenario.Dial(h).Get(key)
				if !bytes.Equal(got, []byte("value")) || version != coord.FirstVersion {
					k.Failf("wrong", "%q, version %d: %v", got, version, err)
				}
				return errors.Join(scenario.Dial(h).Delete(key, coord.AnyVersion))
			}))
			s, err := scenario.SeededController(map[string][]byte{key: []byte("value"), "another": nil})
			cfg.Services = []sim.Service{s}
			return cfg, err
		}}
	}
	verdict(t, build("key"), explore.Options{MaxRuns: 3, Strategy: explore.Random}, explore.Clean, "")
	if _, err := explore.Check(build(strings.Repeat("k", coord.MaxKey+1)), explore.Options{}); !errors.Is(err, coord.ErrInvalid) || !errors.Is(err, explore.ErrScenario) {
		t.Error(err)
	}
	if _, err := scenario.SeededController(map[string][]byte{"key": make([]byte, coord.MaxValue+1)}); !errors.Is(err, coord.ErrInvalid) {
		t.Error(err)
	}
}

// Lives follow each other until the last has returned, which no fault strikes. A life
// that is believed dead is a zombie once the next one has begun.
func TestLives(t *testing.T) {
	const zombie = "a life went on that was believed dead"
	s := world(func(k *scenario.Kit) []sim.Node {
		x := scenario.Memory[struct {
			last int
			over bool
		}](k)
		lives := k.Lives(3, func() bool { return x.over })
		return []sim.Node{lives.Node("app", func(h host.Host, life int) {
			if lives.Latest() < life || life == 0 && lives.Latest() > 0 || lives.Last(life) != (life == 2) || life > 2 {
				k.Failf("wrong", "life %d, and %d is the latest", life, lives.Latest())
			}
			x.last = max(x.last, life)
			k.History()
			if life == 0 {
				k.Check(k.Inject(faults.Suspect, "app"))
				k.Point()
			}
			if lives.Zombie(life) {
				k.Meet(zombie)
			}
			x.over = life == 1 && h.Rand(2) == 1
			k.Outcome(fmt.Sprint(x.last))
			k.History()
		})}
	})
	s.Sometimes = []string{zombie}
	r := verdict(t, s, explore.Options{Faults: "crash(app)<=3"}, explore.Verified, "")
	if !r.Sometimes[0].Met || !slices.Equal(r.Outcomes, []string{"1", "2"}) {
		t.Errorf("%v %v", r.Sometimes, r.Outcomes)
	}
}

// A host that looks at the lives of another depends on when these begin and end.
func TestLivesOfAnotherHost(t *testing.T) {
	s := world(func(k *scenario.Kit) []sim.Node {
		l, saw := k.Lives(2, nil), scenario.Memory[int](k)
		return []sim.Node{l.Node("a", func(host.Host, int) {}), k.Host("b", func(h host.Host) error {
			k.Look()
			*saw = 10 + l.Latest()
			k.History()
			k.Point()
			k.Look()
			if *saw == 10 && l.Latest() == 1 {
				k.Failf("found", "a went on after b had looked")
			}
			return nil
		})}
	})
	for name, opt := range map[string]explore.Options{"reduced": {Workers: 1}, "every order": {EveryOrder: true}, "eager": {Eager: true}} {
		t.Run(name, func(t *testing.T) { verdict(t, s, opt, explore.Violated, "found") })
	}
}

func TestGates(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	for _, x := range []struct {
		name              string
		gate              scenario.Gate
		crash, cut, heals bool
	}{
		{"open", scenario.When(yes), true, true, true},
		{"shut", scenario.When(no), false, false, false},
		{"no crash", scenario.Strikes(faults.Crash, no), false, true, true},
		{"no cut", scenario.Strikes(faults.Partition, no), true, false, true},
		{"no healing", scenario.Heals(no), true, true, false},
		{"two", scenario.All(scenario.Heals(no), scenario.Strikes(faults.Crash, no), scenario.When(yes)), false, true, false},
	} {
		if x.gate(faults.Crash, false) != x.crash || x.gate(faults.Partition, false) != x.cut || x.gate(faults.Partition, true) != x.heals {
			t.Errorf("%s: %v %v %v", x.name, x.gate(faults.Crash, false), x.gate(faults.Partition, false), x.gate(faults.Partition, true))
		}
	}
	if scenario.All() != nil {
		t.Error("no gate keeps something from happening")
	}
}

// A failure has its class, and wraps its cause.
func TestFailures(t *testing.T) {
	cause := errors.New("why")
	err := fmt.Errorf("around: %w", scenario.Failed("class", "it failed: %w", cause))
	if explore.ClassOf(err) != "class" || !errors.Is(err, cause) || err.Error() != "around: it failed: why" {
		t.Error(explore.ClassOf(err), err)
	}
}

// A script that fails, or a server that returns, is a violation.
func TestScriptsAndServers(t *testing.T) {
	for name, nodes := range map[string]func(k *scenario.Kit) []sim.Node{
		"script": func(k *scenario.Kit) []sim.Node {
			return []sim.Node{k.Host("a", func(host.Host) error { return errors.New("no") })}
		},
		"server": func(k *scenario.Kit) []sim.Node {
			return []sim.Node{k.Server("b", func(host.Host) error { return nil }), k.Host("a", func(h host.Host) error {
				_, _ = h.Call("b", "nothing", nil, verbs.Forever)
				return nil
			})}
		},
	} {
		t.Run(name, func(t *testing.T) { verdict(t, world(nodes), explore.Options{}, explore.Violated, "violation") })
	}
}
