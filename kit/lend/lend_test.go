package lend_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// run runs a borrower and a lender once.
func run(borrower, lender func(host.Host) error) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	main := func(f func(host.Host) error) func(host.Host, int) {
		return func(h host.Host, _ int) {
			if err := f(h); err != nil {
				panic(err)
			}
		}
	}
	w, err := sim.New(sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "borrower", Main: main(borrower)}, {Name: "lender", Daemon: true, Main: main(lender)},
	}})
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Run(first{})
	return err
}

// serveWord lends one word to every visitor that says please.
func serveWord(h host.Host) error {
	l, err := lend.NewLender(h)
	if err != nil {
		return err
	}
	word, err := l.Lend(8, verbs.RemoteWrite|verbs.RemoteRead)
	if err != nil {
		return err
	}
	return lend.Serve(h, "word", func(v *lend.Visitor) error {
		switch string(v.Said) {
		case "please":
			return v.Admit(word)
		case "hm":
			return nil
		}
		return errors.New("say please")
	})
}

// borrow runs a borrower beside a host that lends a word. An error of the borrower fails the test.
func borrow(t *testing.T, borrower func(g *lend.Group) error) {
	t.Helper()
	if err := run(func(h host.Host) error {
		g, err := lend.NewGroup(h)
		if err != nil {
			return err
		}
		return borrower(g)
	}, serveWord); err != nil {
		t.Error(err)
	}
}

func Example() {
	err := run(func(h host.Host) error {
		g, err := lend.NewGroup(h)
		if err != nil {
			return err
		}
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{}, time.Second)
		if err != nil {
			return err
		}
		word := c.Windows[0]
		for i, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead} {
			mine.Region.Store64(0, uint64(7*(1-i)))
			wr := verbs.SendWR{Op: op, RemoteAddr: word.Addr, RKey: word.RKey, SGL: []verbs.SGE{mine.SGE(0, 8)}}
			fmt.Println(op, g.Do(c, wr), mine.Region.Load64(0))
		}
		return errors.Join(g.Drop(c), mine.Free(), g.Close())
	}, serveWord)
	fmt.Println(err)
	// Output:
	// Write <nil> 7
	// Read <nil> 7
	// <nil>
}

// A visitor that is refused gets a clear error, and the attempt leaves nothing behind.
func TestRefusals(t *testing.T) {
	err := run(func(h host.Host) error {
		g, err := lend.NewGroup(h)
		if err != nil {
			return err
		}
		for said, want := range map[string]error{"": lend.ErrRefused, "hm": lend.ErrRefused} {
			if _, err := g.Dial("lender", "word", []byte(said), 1, verbs.QPConfig{}, time.Second); !errors.Is(err, want) {
				return fmt.Errorf("who says %q: %w", said, err)
			}
		}
		if _, err := g.Dial("lender", "word", []byte("please"), 2, verbs.QPConfig{}, time.Second); !errors.Is(err, lend.ErrMalformed) {
			return fmt.Errorf("two windows of one: %w", err)
		}
		var rejected *host.RemoteError
		for _, body := range [][]byte{nil, {1, 2, 3}} {
			if _, err := h.Call("lender", "word", body, time.Second); !errors.As(err, &rejected) {
				return fmt.Errorf("a request of %d bytes: %w", len(body), err)
			}
		}
		return g.Close()
	}, serveWord)
	if err != nil {
		t.Error(err)
	}
}

// A borrower's queue accepts requests as long as it has room, and no completion is
// lost, whichever are signaled.
func TestRoom(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{MaxSendWR: 3}, time.Second)
		if err != nil {
			return err
		}
		word := c.Windows[0]
		wrs := make([]verbs.SendWR, 2)
		for i := range wrs {
			wrs[i] = verbs.SendWR{Op: verbs.OpWrite, RemoteAddr: word.Addr, RKey: word.RKey, SGL: []verbs.SGE{mine.SGE(0, 8)}}
		}
		wrs[1].Flags = verbs.Signaled
		for n := range uint64(10) {
			wrs[1].ID = n + 1
			if g.Room(c, 2); !g.Post(c, wrs) {
				return c.Err
			}
			if c.Done > 0 && c.Done < n {
				return fmt.Errorf("request %d is done, and %d would have been waited for", c.Done, n)
			}
		}
		if !g.Await(c, 10) {
			return c.Err
		}
		if g.Post(c, append(wrs, wrs...)); !errors.Is(c.Err, verbs.ErrQueueFull) {
			return fmt.Errorf("more than there is room for: %w", c.Err)
		}
		if g.Post(c, wrs) || g.Await(c, 11) || !errors.Is(g.Do(c, wrs[0]), verbs.ErrQueueFull) || !errors.Is(c.PostRecv(make([]verbs.RecvWR, 1)), verbs.ErrQueueFull) {
			return errors.New("a connection that has failed goes on")
		}
		if _, err := g.Receive(c); !errors.Is(err, verbs.ErrQueueFull) {
			return fmt.Errorf("it receives on a connection that has failed: %w", err)
		}
		return nil
	})
}

// scenario runs the hosts' mains, with the named faults.
func scenario(name, faults string, nodes func(c *explore.Case) []sim.Node) *explore.Scenario {
	return &explore.Scenario{Name: "lend/" + name, Doc: name, Profile: "strong", Faults: faults, Bounds: "one of each",
		Build: func(c *explore.Case) (sim.Config, error) {
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: nodes(c)}, nil
		}}
}

func once(int, bool) bool { return false }

// wants checks that a scenario has the expected verdict.
func wants(t *testing.T, want explore.Verdict, s *explore.Scenario) {
	t.Helper()
	r, err := explore.Check(s, explore.Options{})
	if err != nil || r.Verdict != want {
		t.Fatalf("%s: %v %v, want %v", s.Name, r.Verdict, err, want)
	}
}

// A record that the backup acknowledged survives a power failure, if the backup flushes
// it.
func TestBackupPersists(t *testing.T) {
	backup := func(persist func(*lend.Loan, int, int)) *explore.Scenario {
		return scenario("backup", "power(backup)<=1", func(c *explore.Case) []sim.Node {
			acked := false
			c.OnReset(func() { acked = false })
			return []sim.Node{
				{Name: "primary", Again: once, Main: func(h host.Host, _ int) { acked = primary(h) == nil; c.History(fingerprint.Print{}.Bool(acked)) }},
				{Name: "backup", Daemon: true, Main: func(h host.Host, life int) {
					if log, err := h.OpenPMEM("log", lines*line); life > 0 && acked && (err != nil || log.Load64(line) != 7) {
						c.Fail(errors.New("an acknowledged record is lost"))
					}
					if err := serveBackup(h, persist); err != nil {
						c.Fail(err)
					}
				}},
			}
		})
	}
	wants(t, explore.Verified, backup(flush))
	wants(t, explore.Violated, backup(func(*lend.Loan, int, int) {}))
}

// primary replicates one record of one word, in the second line.
func primary(h host.Host) error {
	g, err := lend.NewGroup(h)
	if err != nil {
		return err
	}
	mine, err := g.Register(8)
	if err != nil {
		return err
	}
	c, err := g.Dial("backup", "backup", nil, 1, verbs.QPConfig{}, time.Second)
	if err != nil {
		return err
	}
	if err := c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
		return err
	}
	g.Timeout = time.Second // a backup that dies before it answers completes nothing
	mine.Region.Store64(0, 7)
	log := c.Windows[0]
	if err := g.Do(c, verbs.SendWR{Op: verbs.OpWriteImm, Imm: 1<<16 | 1, RemoteAddr: log.Addr + line, RKey: log.RKey,
		SGL: []verbs.SGE{mine.SGE(0, 8)}}); err != nil {
		return err
	}
	_, err = g.Receive(c)
	return err
}

// At most one of two candidates wins a term, if a win takes a majority.
func TestElection(t *testing.T) {
	election := func(need int) *explore.Scenario {
		return scenario("election", "crash(node2)<=1", func(c *explore.Case) []sim.Node {
			winner := ""
			c.OnReset(func() { winner = "" })
			candidate := func(h host.Host, _ int) {
				if won, err := elect(h, need); err != nil || !won {
					return
				}
				if winner != "" {
					c.Fail(fmt.Errorf("%s and %s have won one term", winner, h.Name()))
				}
				winner = h.Name()
				c.History(fingerprint.Print{}.String(winner))
			}
			node := serving(c, (*lend.Loan).Expel)
			return []sim.Node{{Name: "a", Main: candidate, Again: once}, {Name: "b", Main: candidate, Again: once},
				node("node1"), node("node2"), node("node3")}
		})
	}
	wants(t, explore.Verified, election(quorum.Majority(3)))
	wants(t, explore.Violated, election(1))
}

func serving(c *explore.Case, fence func(*lend.Loan) error) func(name string) sim.Node {
	return func(name string) sim.Node {
		return sim.Node{Name: name, Again: once, Daemon: true, Main: func(h host.Host, _ int) {
			if err := serveNode(h, fence); err != nil {
				c.Fail(err)
			}
		}}
	}
}

// elect takes part in an election among three nodes.
func elect(h host.Host, need int) (bool, error) {
	g, err := lend.NewGroup(h)
	if err != nil {
		return false, err
	}
	buf, err := g.Register(24)
	if err != nil {
		return false, err
	}
	var nodes []*lend.Conn
	for _, name := range []string{"node1", "node2", "node3"} {
		if c, err := g.Dial(name, "node", []byte("candidate"), 1, verbs.QPConfig{}, time.Second); err == nil {
			nodes = append(nodes, c)
		}
	}
	word := uint64(1)<<48 | uint64(h.Name()[0])
	return campaign(g, nodes, buf, make([]uint64, len(nodes)), word, need), nil
}

// Once a coordinator has connected, no request of its predecessor changes the memory,
// if the node expels the predecessor.
func TestOneCoordinatorAtATime(t *testing.T) {
	fencing := func(fence func(*lend.Loan) error) *explore.Scenario {
		return scenario("fencing", "none", func(c *explore.Case) []sim.Node {
			write := func(v uint64, read bool) func(host.Host, int) {
				return func(h host.Host, _ int) {
					found, err := coordinate(h, v, read)
					if err == nil && read && found != v {
						c.Fail(fmt.Errorf("a later coordinator wrote %d and reads %d", v, found))
					}
				}
			}
			return []sim.Node{{Name: "early", Main: write(1, false), Again: once}, {Name: "late", Main: write(2, true), Again: once},
				serving(c, fence)("node")}
		})
	}
	wants(t, explore.Verified, fencing((*lend.Loan).Expel))
	wants(t, explore.Violated, fencing(func(*lend.Loan) error { return nil }))
}

// coordinate connects as coordinator, writes v, and reads it back.
func coordinate(h host.Host, v uint64, read bool) (uint64, error) {
	g, err := lend.NewGroup(h)
	if err != nil {
		return 0, err
	}
	buf, err := g.Register(8)
	if err != nil {
		return 0, err
	}
	c, err := g.Dial("node", "node", []byte("coordinator"), 1, verbs.QPConfig{}, time.Second)
	if err != nil {
		return 0, err
	}
	buf.Region.Store64(0, v)
	wr := verbs.SendWR{Op: verbs.OpWrite, RemoteAddr: c.Windows[0].Addr, RKey: c.Windows[0].RKey, SGL: []verbs.SGE{buf.SGE(0, 8)}}
	if err := g.Do(c, wr); err != nil || !read {
		return 0, err
	}
	wr.Op = verbs.OpRead
	err = g.Do(c, wr)
	return buf.Region.Load64(0), err
}
