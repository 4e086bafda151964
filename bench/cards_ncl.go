//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// nclOnCards is NCL on cards.
func nclOnCards(ctx context.Context, cfg Config, emit func(Row) error) error {
	return onCards(ctx, cfg, nclPeers, func(c *client) error {
		stop, err := serveCoord(c.h)
		if err != nil {
			return err
		}
		defer stop()
		for _, size := range cfg.Sizes {
			cfg.progress("records of %d bytes", size)
			row := c.cfg.nclRow(size)
			if err := c.record(&row); err != nil {
				return fmt.Errorf("records of %d bytes: %w", size, err)
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// record measures on cards.
func (c *client) record(row *Row) (err error) {
	r, err := newRecorder(c.ctx, c.h, nclConfig(c.h, c.h.Name()), row.Size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.f.Release()) }()
	if err := newRound(warmUp).time(r.loop); err != nil {
		return err
	}
	total, x := newTally(), newRound(row.Iters)
	for range row.Rounds {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := x.time(r.loop); err != nil {
			return err
		}
		if _, err := total.add(x); err != nil {
			return err
		}
	}
	if n := r.f.Alive(); n < nclPeers {
		return fmt.Errorf("%w: only %d of %d peers were left at the end", ErrPeer, n, nclPeers)
	}
	total.fill(row)
	return nil
}

// withNCLOnCards is WithNCL on cards.
func withNCLOnCards(ctx context.Context, cfg Config, f func(NCLApp) error) error {
	return onCards(ctx, cfg, nclPeers, func(c *client) error {
		stop, err := serveCoord(c.h)
		if err != nil {
			return err
		}
		defer stop()
		cfg := nclConfig(c.h, c.h.Name())
		return f(NCLApp{Peers: nclPeers, Do: func(f func(h host.Host, cfg ncl.Config)) error {
			f(c.h, cfg)
			return nil
		}})
	})
}

// serveCoord runs the coordination service on h until stop is called.
func serveCoord(h host.Host) (stop func(), err error) {
	l, err := h.Listen("coord")
	if err != nil {
		return nil, err
	}
	h.Go("coord", func() {
		var store coord.Store
		for {
			r, err := l.Accept(verbs.Forever)
			if err != nil {
				return
			}
			r.Reply(store.Apply(r.From(), r.Body()))
		}
	})
	return func() { _ = l.Close() }, nil
}
