package raftr_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/raftr"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// dice chooses the run without surprises, except that random numbers differ.
type dice struct{ rolled int }

func (*dice) Pick([]sim.Event) int { return 0 }

func (d *dice) Choose(kind sim.ChoiceKind, n int) int {
	if kind != sim.ChooseRand {
		return 0
	}
	d.rolled += 7
	return d.rolled % n
}

func config() raftr.Config {
	return raftr.Config{Nodes: []string{"n1", "n2", "n3"}, Log: 100, Value: 100, Election: 100 * time.Millisecond, CallTimeout: 10 * time.Millisecond,
		KeepAlive: 10 * time.Millisecond}
}

// node runs a node, with its loops.
func node(h host.Host, cfg raftr.Config) error {
	n, err := raftr.Start(h, cfg)
	if err != nil {
		return err
	}
	h.Go("peers", func() { h.Logf("%v", n.Serve()) })
	h.Go("clients", func() { h.Logf("%v", n.ServeClients()) })
	return n.Run(func(term uint64) { h.Logf("leads in term %d", term) })
}

// run runs a client beside a group, once. A node that restarts has lost its memory unless the group is persistent.
func run(cfg raftr.Config, budget string, client func(h host.Host, kill func(name string))) error {
	return runBy(&dice{}, cfg, budget, client)
}

// shuffled chooses a run at random.
type shuffled struct{ r *rand.Rand }

func (s shuffled) Pick(events []sim.Event) int        { return s.r.IntN(len(events)) }
func (s shuffled) Choose(_ sim.ChoiceKind, n int) int { return s.r.IntN(n) }

// runBy is run, and a policy chooses which.
func runBy(policy sim.Policy, cfg raftr.Config, budget string, client func(h host.Host, kill func(name string))) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	b, err := faults.ParseBudget(budget)
	if err != nil {
		return err
	}
	var w *sim.World
	world := sim.Config{Profile: profile, Budget: b, Nodes: []sim.Node{{Name: "client", Main: func(h host.Host, _ int) {
		client(h, func(name string) { check(w.Inject(faults.Crash, name)) })
	}}}}
	for _, name := range cfg.Nodes {
		world.Nodes = append(world.Nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, life int) {
			mine := cfg
			mine.New = life == 0
			h.Logf("%v", node(h, mine))
			h.Sleep(time.Hour)
		}})
	}
	if w, err = sim.New(world); err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Run(policy)
	return err
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func dial(h host.Host) *raftr.Client {
	c, err := raftr.Dial(h, raftr.ClientConfig{Nodes: config().Nodes, Timeout: time.Second, Rounds: 10, Pause: 100 * time.Millisecond})
	check(err)
	return c
}

func Example() {
	fmt.Println(run(config(), "none", func(h host.Host, _ func(string)) {
		c := dial(h)
		fmt.Println(c.Put("language", "Go"))
		fmt.Println(c.Get("language"))
	}))
	// Output:
	// <nil>
	// Go true <nil>
	// <nil>
}

// The group serves on when one node after the other crashes and starts again with its log.
func TestAPersistentGroupOutlivesItsNodes(t *testing.T) {
	cfg := config()
	cfg.Persistent = true
	if err := run(cfg, "crash(n*)<=3", func(h host.Host, kill func(string)) {
		c := dial(h)
		for i, name := range cfg.Nodes {
			check(c.Put("k", name))
			kill(name)
			h.Sleep(time.Second)
			if v, ok, err := c.Get("k"); v != name || !ok || err != nil {
				t.Errorf("after the crash of %s: %q, %v, %v", name, v, ok, err)
			}
			check(c.Put(fmt.Sprint(i), "x"))
		}
	}); err != nil {
		t.Error(err)
	}
}

// Without persistent memory a node that has restarted takes no part, so a second crash is one too many.
func TestAVolatileGroupOutlivesOneNode(t *testing.T) {
	if err := run(config(), "crash(n*)<=2", func(h host.Host, kill func(string)) {
		c := dial(h)
		check(c.Put("k", "v"))
		kill("n1")
		h.Sleep(time.Second)
		check(c.Put("k", "w"))
		kill("n2")
		h.Sleep(time.Second)
		if err := c.Put("k", "x"); !errors.Is(err, raftr.ErrUnknown) && !errors.Is(err, raftr.ErrUnavailable) {
			t.Errorf("with one node left: %v", err)
		}
		if v, _, err := c.Get("k"); err == nil {
			t.Errorf("with one node left: %q", v)
		}
	}); err != nil {
		t.Error(err)
	}
}

// What a client asks wrongly is refused, and a full log says so.
func TestBadRequestsAreRefused(t *testing.T) {
	cfg := config()
	cfg.Log = 6
	if err := run(cfg, "none", func(h host.Host, _ func(string)) {
		c := dial(h)
		if err := c.Again("k", "v"); !errors.Is(err, raftr.ErrSession) {
			t.Errorf("a repetition of nothing: %v", err)
		}
		if err := c.Put("", "v"); !errors.Is(err, raftr.ErrRefused) {
			t.Errorf("no key: %v", err)
		}
		if err := c.Put("k", string(make([]byte, 101))); !errors.Is(err, raftr.ErrRefused) {
			t.Errorf("too long a value: %v", err)
		}
		check(c.Put("k", "v"))
		check(c.Again("k", "v")) // takes an entry, and changes nothing
		var err error
		for range 4 {
			err = errors.Join(err, c.Put("k", "w"))
		}
		if !errors.Is(err, raftr.ErrRefused) {
			t.Errorf("a full log: %v", err)
		}
		if b, err := h.Call("n1", "raftr-kv", []byte("nonsense"), time.Second); err != nil || len(b) == 0 || b[0] != 3 {
			t.Errorf("nonsense: %q, %v", b, err)
		}
	}); err != nil {
		t.Error(err)
	}
	for _, bad := range []raftr.ClientConfig{{}, {Nodes: []string{"n1"}, Rounds: 1}, {Nodes: []string{"n1"}, Timeout: 1}, {Nodes: []string{"n1"}, Timeout: 1, Rounds: 1, Pause: -1}} {
		if _, err := raftr.Dial(nil, bad); !errors.Is(err, raftr.ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A leader that tries to reach a dead node goes on to beat for the others, however long an attempt to connect takes.
// Otherwise one dead node of three keeps the group from serving.
func TestADeadNodeDoesNotUnseatTheLeader(t *testing.T) {
	cfg := config()
	cfg.CallTimeout = 10 * cfg.Election
	if err := run(cfg, "crash(n*)<=1", func(h host.Host, kill func(string)) {
		c := dial(h)
		check(c.Put("k", "v"))
		kill("n3")
		check(c.Put("k", "v")) // the session outlives the election that this may need
		for range 20 {
			h.Sleep(cfg.Election)
			began := h.Now()
			if err := c.Put("k", "v"); err != nil || h.Now()-began > cfg.Election {
				t.Errorf("%v after %v", err, h.Now()-began)
			}
		}
	}); err != nil {
		t.Error(err)
	}
}

// Writes and reads at once share the connections: none waits for a timer, and no connection is lost.
func TestOperationsAtOnceWaitForNoTimer(t *testing.T) {
	cfg := config()
	for seed := range uint64(5) {
		over := 0
		if err := runBy(shuffled{rand.New(rand.NewPCG(seed, 1))}, cfg, "none", func(h host.Host, _ func(string)) {
			check(dial(h).Put("k", "v"))
			const tasks = 3
			for i := range tasks {
				h.Go(fmt.Sprint("client ", i), func() {
					atOnce(t, h, fmt.Sprint(i))
					over++
				})
			}
			for over < tasks && !t.Failed() {
				h.Sleep(cfg.Election)
			}
		}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// atOnce writes and reads a key that nobody else uses, while others do the same with theirs.
func atOnce(t *testing.T, h host.Host, key string) {
	c := dial(h)
	for i := range 5 {
		began := h.Now()
		err := c.Put(key, fmt.Sprint(i))
		v, _, bad := c.Get(key)
		if err != nil || bad != nil || v != fmt.Sprint(i) || h.Now()-began >= config().Election/8 {
			t.Errorf("key %s, write %d: %v; %q, %v; after %v", key, i, err, v, bad, h.Now()-began)
		}
	}
}
