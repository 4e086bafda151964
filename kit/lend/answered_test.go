package lend_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// An answer to Ask connects, or gives the reason of the refusal.
func TestAnswered(t *testing.T) {
	refused := &host.RemoteError{}
	for name, x := range map[string]struct {
		size   int
		change func(a *host.Answer)
		want   error
	}{
		"a window":       {8, func(*host.Answer) {}, nil},
		"another length": {16, func(*host.Answer) {}, lend.ErrMalformed},
		"no greeting":    {8, func(a *host.Answer) { a.Body = a.Body[:3] }, lend.ErrMalformed},
		"no answer":      {8, func(a *host.Answer) { a.Body = nil }, host.ErrTimeout},
		"a refusal":      {8, func(a *host.Answer) { a.Err = refused }, refused},
	} {
		err := run(func(h host.Host) error {
			g, err := lend.NewGroup(h)
			if err != nil {
				return err
			}
			c, err := g.Prepare("lender", verbs.QPConfig{})
			if err != nil {
				return err
			}
			answers := g.Ask([]*lend.Conn{c}, "word", func(c *lend.Conn) []byte {
				return append(lend.AppendEndpoint(nil, c.Endpoint()), "please"...)
			}, time.Second).Wait(1)
			x.change(&answers[0])
			if err := c.Answered(&answers[0], x.size); !errors.Is(err, x.want) || (err == nil) != (c.QP != nil) {
				return fmt.Errorf("%w, and a queue pair: %v; want %w", err, c.QP != nil, x.want)
			}
			return g.Drop(c)
		}, serveWord)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A task may wait for a completion of any connection while others post: the queue that it waited for
// says to which connection the completion belongs, if to any of those that it asks about.
func TestReadyAndCollect(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		var conns []*lend.Conn
		for range 2 {
			c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{MaxSendWR: 2}, time.Second)
			if err != nil {
				return err
			}
			conns = append(conns, c)
		}
		c := conns[1]
		g.Post(c, []verbs.SendWR{{ID: 7, Op: verbs.OpWrite, Flags: verbs.Signaled, RemoteAddr: c.Windows[0].Addr, RKey: c.Windows[0].RKey, SGL: []verbs.SGE{mine.SGE(0, 8)}}})
		if c.Free() != 1 || conns[0].Free() != 2 {
			return fmt.Errorf("%d and %d slots are free", c.Free(), conns[0].Free())
		}
		cq, err := g.Ready()
		if err != nil {
			return err
		}
		if got := g.Collect(conns[:1], cq); got != nil {
			return errors.New("a completion of another connection was collected")
		}
		if got := g.Collect(conns, cq); got != c || c.Done != 7 || c.Free() != 2 {
			return fmt.Errorf("collected %v, request %d, and %d slots are free", got, c.Done, c.Free())
		}
		if got := g.Collect(conns, cq); got != nil {
			return errors.New("a completion was collected twice")
		}
		return nil
	})
}
