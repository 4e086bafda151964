package rpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

var (
	small  = rpc.Config{MaxMessage: 8, Credits: 2}
	lively = rpc.Config{MaxMessage: 8, Credits: 2, KeepAlive: time.Second}
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// run runs a server and a client once.
func run(server, client func(host.Host)) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	w, err := sim.New(sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "client", Main: func(h host.Host, _ int) { client(h) }},
		{Name: "server", Daemon: true, Main: func(h host.Host, _ int) { server(h) }},
	}})
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Run(first{})
	return err
}

// upper serves a procedure that converts letters to upper case.
func upper(h host.Host) {
	h.Logf("%v", rpc.Serve(h, "upper", small, func(_ string, req []byte) []byte { return bytes.ToUpper(req) }))
}

func Example() {
	err := run(upper, func(h host.Host) {
		c, err := rpc.Dial(h, "server", "upper", small, time.Second)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, err := c.Call([]byte("verbs"))
		fmt.Printf("%s %v\n", answer, err)
		fmt.Println(c.Close())
	})
	fmt.Println(err)
	// Output:
	// VERBS <nil>
	// <nil>
	// <nil>
}

// Concurrent calls get their own answers, in whatever order they are waited for, and
// there are as many as credits.
func TestCredits(t *testing.T) {
	if err := run(upper, func(h host.Host) {
		c, err := rpc.Dial(h, "server", "upper", small, verbs.Forever)
		check(err)
		for range 3 {
			a, err := c.Start([]byte("a"))
			check(err)
			b, err := c.Start(nil)
			check(err)
			if _, err := c.Start([]byte("c")); !errors.Is(err, rpc.ErrConfig) {
				panic(fmt.Sprint("a call without a credit: ", err))
			}
			second, err := c.Wait(b)
			check(err)
			one, err := c.Wait(a)
			check(err)
			if string(one) != "A" || len(second) != 0 {
				panic(fmt.Sprintf("answers %q and %q", one, second))
			}
			if _, err := c.Wait(a); !errors.Is(err, rpc.ErrConfig) {
				panic(fmt.Sprint("an answer twice: ", err))
			}
		}
		if _, err := c.Start(make([]byte, 9)); !errors.Is(err, rpc.ErrTooLong) {
			panic(err)
		}
		check(c.Close())
		if _, err := c.Call(nil); !errors.Is(err, rpc.ErrClosed) {
			panic(fmt.Sprint("after Close: ", err))
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// An answer that is too long is the server's mistake: the connection fails, and the
// client cannot know whether the call was executed.
func TestAnswerTooLong(t *testing.T) {
	if err := run(func(h host.Host) {
		h.Logf("%v", rpc.Serve(h, "upper", small, func(string, []byte) []byte { return make([]byte, 9) }))
	}, func(h host.Host) {
		c, err := rpc.Dial(h, "server", "upper", lively, verbs.Forever)
		check(err)
		if _, err := c.Call(nil); !errors.Is(err, rpc.ErrUnknown) {
			panic(err)
		}
		if _, err := c.Call(nil); !errors.Is(err, rpc.ErrClosed) {
			panic(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// Client and server must have the same configuration, within the limits.
func TestConfigurations(t *testing.T) {
	for _, c := range []rpc.Config{{}, {MaxMessage: 1}, {Credits: 1}, {MaxMessage: rpc.MaxMessage + 1, Credits: 1}, {MaxMessage: 1, Credits: rpc.MaxCredits + 1},
		{MaxMessage: 1, Credits: 1, KeepAlive: -1}} {
		if err := c.Validate(); !errors.Is(err, rpc.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := rpc.Dial(nil, "server", "upper", c, verbs.Forever); !errors.Is(err, rpc.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if err := rpc.Serve(nil, "upper", c, nil); !errors.Is(err, rpc.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := run(upper, func(h host.Host) {
		_, err := rpc.Dial(h, "server", "upper", rpc.Config{MaxMessage: 16, Credits: 2}, verbs.Forever)
		if !errors.Is(err, lend.ErrRefused) {
			panic(fmt.Sprint("another configuration: ", err))
		}
		if _, err := h.Call("server", "upper", []byte("nonsense"), verbs.Forever); err == nil {
			panic("nonsense was let in")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// A host that connects as a client and sends a malformed message loses its connection;
// others do not notice.
func TestNonsense(t *testing.T) {
	for name, n := range map[string]int{"too short": 7, "too long": 17} {
		if err := run(upper, func(h host.Host) {
			g, err := lend.NewGroup(h)
			check(err)
			said := []byte{7: 8, 15: 2}
			conn, err := g.Dial("server", "upper", said, 0, verbs.QPConfig{}, verbs.Forever)
			check(err)
			mem, err := g.Register(32)
			check(err)
			for range 2 {
				_ = g.Do(conn, verbs.SendWR{Op: verbs.OpSend, SGL: []verbs.SGE{mem.SGE(0, n)}})
				h.Sleep(1) // the server reads it
			}
			if conn.Err == nil {
				panic("the server goes on")
			}
			upperWorks(h) // for others
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func upperWorks(h host.Host) {
	c, err := rpc.Dial(h, "server", "upper", small, verbs.Forever)
	check(err)
	if answer, err := c.Call([]byte("x")); err != nil || string(answer) != "X" {
		panic(err)
	}
}

// ledger is a host that records calls in its memory. No fault strikes it. The server cannot report
// to the checks itself, because it is a daemon.
func ledger(h host.Host, _ int) {
	l, err := h.Listen("ledger")
	var did []byte
	for err == nil {
		var r host.Request
		if r, err = l.Accept(verbs.Forever); err == nil {
			did = append(did, r.Body()...)
			r.Reply(did)
		}
	}
	h.Logf("%v", err)
}

// Whatever happens to the server, a call that was answered was carried out once, one
// that failed with ErrClosed was not, and no call was carried out twice or out of
// order.
func TestCallsAreCarriedOutOnce(t *testing.T) {
	s := &explore.Scenario{Name: "rpc/once", Doc: "Calls are carried out at most once.", Profile: "relaxed", Faults: "crash(server)<=1",
		Bounds: "two calls at the same time, then one", Build: func(c *explore.Case) (sim.Config, error) {
			server := func(h host.Host, _ int) {
				err := rpc.Serve(h, "count", small, func(_ string, req []byte) []byte {
					_, err := h.Call("ledger", "ledger", req, verbs.Forever)
					check(err)
					return req
				})
				h.Logf("%v", err)
			}
			client := func(h host.Host, _ int) {
				if err := countThree(h); err != nil {
					c.Fail(err)
				}
			}
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: "client", Main: client}, {Name: "ledger", Daemon: true, Main: ledger},
				{Name: "server", Daemon: true, Main: server, Again: func(int, bool) bool { return false }}}}, nil
		}}
	explore.Test(t, s)
}

// countThree makes the calls a, b and c, and compares their fates with the ledger.
func countThree(h host.Host) error {
	rc, err := rpc.Dial(h, "server", "count", lively, verbs.Forever)
	if err != nil {
		return nil // the server has died
	}
	a, errA := rc.Start([]byte("a"))
	b, errB := rc.Start([]byte("b"))
	if errA == nil {
		_, errA = rc.Wait(a)
	}
	if errB == nil {
		_, errB = rc.Wait(b)
	}
	_, errC := rc.Call([]byte("c"))
	did, err := h.Call("ledger", "ledger", nil, verbs.Forever)
	if err != nil {
		return err
	}
	for i, err := range []error{errA, errB, errC} {
		switch n := bytes.Count(did, []byte{"abc"[i]}); {
		case n > 1, err == nil && n != 1, errors.Is(err, rpc.ErrClosed) && n != 0,
			err != nil && !errors.Is(err, rpc.ErrClosed) && !errors.Is(err, rpc.ErrUnknown):
			return fmt.Errorf("call %c was carried out %d times, and its error is %v", "abc"[i], n, err)
		}
	}
	if !bytes.HasPrefix([]byte("abc"), did) {
		return fmt.Errorf("carried out: %s", did)
	}
	return nil
}

// Calls in progress at the same time get their own answers, whenever the cards take the
// buffers, and without a fault none fails.
func TestAnswersAreTheirOwn(t *testing.T) {
	s := &explore.Scenario{Name: "rpc/answers", Doc: "Each call gets its own answer.", Profile: "relaxed", Faults: "none",
		Bounds: "two calls at the same time, then one", Build: func(c *explore.Case) (sim.Config, error) {
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: "client", Main: func(h host.Host, _ int) {
					if err := callThree(h); err != nil {
						c.Fail(err)
					}
				}},
				{Name: "server", Daemon: true, Main: func(h host.Host, _ int) { upper(h) }}}}, nil
		}}
	explore.Test(t, s)
}

func callThree(h host.Host) error {
	c, err := rpc.Dial(h, "server", "upper", small, verbs.Forever)
	if err != nil {
		return err
	}
	a, errA := c.Start([]byte("a"))
	b, errB := c.Start([]byte("b"))
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	first, errA := c.Wait(a)
	third, errC := c.Call([]byte("c"))
	second, errB := c.Wait(b)
	if err := errors.Join(errA, errB, errC); err != nil {
		return err
	}
	if got := string(first) + string(second) + string(third); got != "ABC" {
		return fmt.Errorf("the answers are %s", got)
	}
	return nil
}

// Few sends are signaled, and yet the send queue never overflows. Each answer belongs to the call that Any reports,
// and calls whose server has died are reported as well.
func TestAnyReportsCallsOfSeveralServers(t *testing.T) {
	profile, err := faults.ProfileByName("strong")
	check(err)
	budget, err := faults.ParseBudget("crash(two)<=1")
	check(err)
	var w *sim.World
	nodes := []sim.Node{{Name: "client", Main: func(h host.Host, _ int) {
		g, err := lend.NewGroup(h)
		check(err)
		var clients []*rpc.Client
		for _, name := range []string{"one", "two"} {
			c, err := rpc.DialIn(g, name, "upper", lively, verbs.Forever)
			check(err)
			clients = append(clients, c)
		}
		if _, _, ok := rpc.Any(g, clients); ok {
			panic("a call that nobody has made")
		}
		for range 100 {
			for i, c := range clients {
				_, err := c.Start([]byte{'a' + byte(i)})
				check(err)
			}
			for range clients {
				i, call, ok := rpc.Any(g, clients)
				answer, err := clients[i].Wait(call)
				if !ok || err != nil || string(answer) != string(rune('A'+i)) {
					panic(fmt.Sprint(i, ok, err, answer))
				}
			}
		}
		check(w.Inject(faults.Crash, "two"))
		_, err = clients[1].Start(nil)
		check(err)
		i, call, ok := rpc.Any(g, clients)
		if _, err := clients[i].Wait(call); !ok || i != 1 || !errors.Is(err, rpc.ErrUnknown) {
			panic(fmt.Sprint(i, ok, err))
		}
		if clients[0].Free() != 2 {
			panic("credits are lost")
		}
		check(errors.Join(clients[0].Close(), clients[1].Close(), g.Close()))
	}}}
	for _, name := range []string{"one", "two"} {
		nodes = append(nodes, sim.Node{Name: name, Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
			h.Logf("%v", rpc.Serve(h, "upper", lively, func(_ string, req []byte) []byte { return bytes.ToUpper(req) }))
		}})
	}
	if w, err = sim.New(sim.Config{Profile: profile, Budget: budget, Nodes: nodes}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Run(first{}); err != nil {
		t.Fatal(err)
	}
}
