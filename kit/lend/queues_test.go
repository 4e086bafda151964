package lend_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Do waits for one place of the queue, and its requests have numbers of their own.
func TestDo(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		mine, err := g.Register(8)
		if err != nil {
			return err
		}
		c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{MaxSendWR: 1}, time.Second)
		if err != nil {
			return err
		}
		word := c.Windows[0]
		wr := verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RemoteAddr: word.Addr, RKey: word.RKey, SGL: []verbs.SGE{mine.SGE(0, 8)}}
		if !g.Post(c, []verbs.SendWR{wr}) {
			return c.Err
		}
		for n := uint64(2); n < 5; n++ { // the first of them waits for the place that is taken
			if err := g.Do(c, wr); err != nil || c.Asked != n || c.Done != n {
				return fmt.Errorf("request %d: %w, asked %d, done %d", n, err, c.Asked, c.Done)
			}
		}
		return nil
	})
}

// A receive queue accepts as many receives as it has room for, before and after the connection is made.
func TestPostRecv(t *testing.T) {
	borrow(t, func(g *lend.Group) error {
		c, err := g.Dial("lender", "word", []byte("please"), 1, verbs.QPConfig{MaxRecvWR: 1}, time.Second)
		if err != nil {
			return err
		}
		fresh, err := g.Prepare("lender", verbs.QPConfig{MaxRecvWR: 1})
		if err != nil {
			return err
		}
		for _, x := range []*lend.Conn{c, fresh} {
			if err := x.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
				return err
			}
			if err := x.PostRecv(make([]verbs.RecvWR, 1)); !errors.Is(err, verbs.ErrQueueFull) {
				return fmt.Errorf("more than there is room for: %w", err)
			}
		}
		return nil
	})
}
