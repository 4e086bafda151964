package lend_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// AwaitAll waits for the last of several requests to each peer, and a connection that fails
// has no queue pair any more.
func TestAwaitAll(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		var conns []*lend.Conn
		for posts := range 3 {
			c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{}, time.Second)
			if err != nil {
				return err
			}
			for range posts + 1 {
				wr := verbs.SendWR{ID: c.Asked + 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RemoteAddr: c.Windows[0].Addr, RKey: c.Windows[0].RKey,
					SGL: []verbs.SGE{mine.SGE(0, 8)}}
				if !g.Post(c, []verbs.SendWR{wr}) {
					return c.Err
				}
			}
			conns = append(conns, c)
		}
		g.AwaitAll(conns)
		for i, c := range conns {
			if c.Err != nil || c.Done != uint64(i+1) {
				return fmt.Errorf("connection %d: request %d is done: %w", i, c.Done, c.Err)
			}
		}
		g.Fail(conns[0], errors.New("enough"))
		if conns[0].QP != nil {
			return errors.New("a connection that has failed has a queue pair")
		}
		return nil
	})
}

// A request may be complete before somebody waits for it: Room for another one and Do have
// polled its completion, and no other comes.
func TestAwaitOfWhatIsComplete(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{MaxSendWR: 1}, time.Second)
		if err != nil {
			return err
		}
		wr := verbs.SendWR{ID: 7, Op: verbs.OpWrite, Flags: verbs.Signaled, RemoteAddr: c.Windows[0].Addr, RKey: c.Windows[0].RKey,
			SGL: []verbs.SGE{mine.SGE(0, 8)}}
		g.Post(c, []verbs.SendWR{wr})
		g.Room(c, 1)
		if !g.Await(c, wr.ID) {
			return fmt.Errorf("after Room: %w", c.Err)
		}
		if err := g.Do(c, wr); err != nil || !g.Await(c, c.Asked) {
			return fmt.Errorf("after Do: %w", err)
		}
		g.AwaitAll([]*lend.Conn{c})
		// Another request with the same ID is complete; that proves nothing about this one.
		wr.ID = c.Asked
		for name, await := range map[string]func(){"Await": func() { g.Await(c, wr.ID) }, "AwaitAll": func() { g.AwaitAll([]*lend.Conn{c}) }} {
			g.Post(c, []verbs.SendWR{wr})
			if await(); !g.Post(c, []verbs.SendWR{wr}) { // into the only slot
				return fmt.Errorf("%s has not waited: %w", name, c.Err)
			}
			g.Room(c, 1)
		}
		return nil
	})
}

// Without a completion in time ReadyAll takes none, and CollectAll then fails every connection; so does
// AwaitAll.
func TestAWaitForAllThatTakesTooLong(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		g.Timeout = time.Millisecond
		dial := func() (conns []*lend.Conn) {
			for range 3 {
				c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{}, time.Second)
				if err != nil {
					t.Error(err)
					return nil
				}
				conns = append(conns, c)
			}
			return conns
		}
		failed := func(conns []*lend.Conn) {
			for i, c := range conns {
				if !errors.Is(c.Err, verbs.ErrTimeout) {
					t.Errorf("connection %d: %v", i, c.Err)
				}
			}
		}
		conns := dial()
		wcs, err := g.ReadyAll(conns)
		if !errors.Is(err, verbs.ErrTimeout) {
			t.Errorf("nothing was posted: %v", err)
		}
		g.CollectAll(conns, wcs, err)
		failed(conns)
		conns = dial()
		for _, c := range conns { // not signaled
			g.Post(c, []verbs.SendWR{{ID: 1, Op: verbs.OpWrite, RemoteAddr: c.Windows[0].Addr, RKey: c.Windows[0].RKey}})
		}
		g.AwaitAll(conns)
		failed(conns)
		return nil
	})
}

// Of several completions that were taken together one may be a failure. It fails its own connection only.
func TestOneOfAllFails(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		var conns []*lend.Conn
		for i := range 3 {
			c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{}, time.Second)
			if err != nil {
				return err
			}
			key := c.Windows[0].RKey
			if i == 1 {
				key++
			}
			g.Post(c, []verbs.SendWR{{ID: uint64(i + 7), Op: verbs.OpWrite, Flags: verbs.Signaled, RemoteAddr: c.Windows[0].Addr, RKey: key,
				SGL: []verbs.SGE{mine.SGE(0, 8)}}})
			conns = append(conns, c)
		}
		wcs, err := g.ReadyAll(conns)
		if err != nil {
			return err
		}
		g.CollectAll(conns, wcs, nil)
		for i, c := range conns {
			if bad := i == 1; bad != (c.Err != nil) || bad != (c.Done == 0) || !bad && c.Done != uint64(i+7) || c.Free() != c.Depth && !bad {
				t.Errorf("connection %d: %v, request %d is done, %d places of %d are free", i, c.Err, c.Done, c.Free(), c.Depth)
			}
		}
		return nil
	})
}

// A request that the card refuses fails its connection, and what another task waits for still comes.
func TestPostBesideLeavesTheCompletion(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{}, time.Second)
		if err != nil {
			return err
		}
		wr := verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RemoteAddr: c.Windows[0].Addr, RKey: c.Windows[0].RKey}
		if !g.PostBeside(c, []verbs.SendWR{wr}) || c.Asked != 1 || c.Free() != c.Depth-1 {
			t.Errorf("posted: %v, request %d, %d places of %d are free", c.Err, c.Asked, c.Free(), c.Depth)
		}
		wr.Op = 0 // there is no such operation
		if g.PostBeside(c, []verbs.SendWR{wr}) || c.Err == nil {
			t.Error("what the card refuses is posted")
		}
		if g.PostBeside(c, []verbs.SendWR{wr}) {
			t.Error("posted to a connection that has failed")
		}
		cq, err := g.Ready()
		if err != nil || cq != c.CQ {
			return fmt.Errorf("the completion of the first request: %w", err)
		}
		if g.Collect([]*lend.Conn{c}, cq) != nil {
			t.Error("the connection that has failed has a success")
		}
		return g.Drop(c)
	})
}

// A visitor of a lender that also sends gets a window for each loan, and messages in the order
// in which they were sent, whatever it waits for meanwhile.
func TestMessagesInOrder(t *testing.T) {
	wants(t, explore.Verified, scenario("messages", "none", func(c *explore.Case) []sim.Node {
		return []sim.Node{
			{Name: "visitor", Again: once, Main: func(h host.Host, _ int) {
				if err := receiveTwo(h); err != nil {
					c.Fail(err)
				}
			}},
			{Name: "sender", Daemon: true, Main: func(h host.Host, _ int) {
				if err := sendTwo(h); err != nil {
					c.Fail(err)
				}
			}},
		}
	}))
}

func receiveTwo(h host.Host) error {
	g, err := lend.NewGroup(h)
	if err != nil {
		return err
	}
	c, err := g.Dial("sender", "two", nil, 2, verbs.QPConfig{}, verbs.Forever)
	if err != nil {
		return err
	}
	if err := c.PostRecv(make([]verbs.RecvWR, 2)); err != nil {
		return err
	}
	if err := g.Do(c, verbs.SendWR{Op: verbs.OpSend}); err != nil { // begin
		return err
	}
	for _, w := range c.Windows {
		if err := g.Do(c, verbs.SendWR{Op: verbs.OpWrite, RemoteAddr: w.Addr, RKey: w.RKey}); err != nil {
			return err
		}
	}
	for i := range uint32(2) {
		wc, err := g.Receive(c)
		if err != nil || wc.Imm != i+1 {
			return fmt.Errorf("message %d is %d: %w", i+1, wc.Imm, err)
		}
	}
	return nil
}

func sendTwo(h host.Host) error {
	g, err := lend.NewGroup(h)
	if err != nil {
		return err
	}
	l, err := g.Lender()
	if err != nil {
		return err
	}
	var loans []*lend.Loan
	for range 2 {
		x, err := l.Lend(8, verbs.RemoteWrite)
		if err != nil {
			return err
		}
		loans = append(loans, x)
	}
	return lend.Serve(h, "two", func(v *lend.Visitor) error {
		c, err := v.Meet(g, verbs.QPConfig{Access: verbs.RemoteWrite}, loans...)
		if err != nil {
			return err
		}
		if err := c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
			return err
		}
		h.Go("send", func() {
			if _, err := g.Receive(c); err != nil {
				h.Logf("%v", err)
			}
			for i := range uint32(2) {
				if err := g.Do(c, verbs.SendWR{Op: verbs.OpSendImm, Imm: i + 1}); err != nil {
					h.Logf("%v", err)
				}
			}
		})
		return nil
	})
}
