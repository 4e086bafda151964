//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// Built reports whether this program can open cards.
const Built = hw.Built

// Devices returns the names of the cards of this machine.
func Devices() []string {
	names, _ := hw.Devices() // none without the tag
	return names
}

// verbsOnCards is Verbs on cards.
func verbsOnCards(ctx context.Context, cfg Config, emit func(Row) error) error {
	return onCards(ctx, cfg, 1, func(c *client) error {
		for _, s := range cfg.specs() {
			cfg.progress("%v", s)
			row, err := c.measure(s)
			if err != nil {
				return fmt.Errorf("%v: %w", s, err)
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// client is the side that measures, on a card.
type client struct {
	ctx   context.Context
	cfg   Config
	h     *oshost.Host
	peers []string // addresses
	names []string
}

// onCards runs f with a client and the given number of peers.
func onCards(ctx context.Context, cfg Config, peers int, f func(*client) error) (err error) {
	if len(cfg.Peers) != 0 && len(cfg.Peers) != peers {
		return fmt.Errorf("%w: %d peers; want %d", ErrConfig, len(cfg.Peers), peers)
	}
	dev, err := hw.Open(hw.Config{Device: cfg.Device, MTU: cfg.MTU, Spin: cfg.Spin, MaxInline: max(cfg.Inline, hw.DefaultMaxInline)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	h, err := oshost.New(oshost.Config{Name: "bench", Device: dev, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	c := &client{ctx: ctx, cfg: cfg, h: h, peers: cfg.Peers}
	for i := range peers {
		name := PeerName(i)
		if len(cfg.Peers) == 0 {
			addr, stop, err := cfg.StartPeer(ctx, name)
			if err != nil {
				return fmt.Errorf("%w: start %s: %w", ErrPeer, name, err)
			}
			defer func() { err = errors.Join(err, stop()) }()
			c.peers = append(c.peers, addr)
		}
		c.names = append(c.names, name)
		if err := h.AddPeer(name, c.peers[i]); err != nil {
			return err
		}
	}
	if cfg.Pin && !cfg.Wait { // a sleeping thread need not be pinned
		if err := Pin(false); err != nil {
			return err
		}
	}
	return f(c)
}

// measure makes one row.
func (c *client) measure(s spec) (row Row, err error) {
	e, err := newEnd(c.h, s, c.cfg.Inline, c.cfg.Wait)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	peer := &remote{c.h, c.names[0]}
	if err := e.open(peer); err != nil {
		return row, err
	}
	defer func() { // runs before e is closed: the peer must release its end first
		_, e := peer.ask(request{Do: doClose})
		err = errors.Join(err, e)
	}()
	row = Row{Bench: "verbs", Backend: RDMA, Op: s.op, Measure: s.measure, Size: s.size, Depth: s.depth, Iters: s.iters(c.cfg.Iters),
		Rounds: c.cfg.Rounds, Reap: reap(c.cfg.Wait), Inline: e.inlined, MTU: e.mtu}
	if s.measure == Rate {
		row.Batch = s.batch
	}
	if err := c.once(e, peer, newRound(s.iters(warmUp))); err != nil {
		return row, err
	}
	return row, c.rounds(&row, e, peer)
}

// once makes one of our own rounds.
func (c *client) once(e *end, peer *remote, r *round) error {
	switch e.measure {
	case Rate:
		r.lat = nil
		return r.time(func([]uint64) error { return e.stream(r.ops) })
	case HalfRoundTrip:
		if err := e.start(peer, r.ops); err != nil {
			return err
		}
		return r.time(e.ping)
	}
	return r.time(func(lat []uint64) error { return e.closedLoop(lat, e.depth) })
}

// rounds alternates with perftest, if there is a tool for s. The two take turns in going
// first, so that a machine that gets slower or faster favours neither. If perftest fails,
// only the comparison is lost.
func (c *client) rounds(row *Row, e *end, peer *remote) error {
	rival, version := c.rival(row, e, peer)
	theirs := func() {
		if rival == nil {
			return
		}
		if err := rival.round(); err != nil {
			row.Missing, rival = err.Error(), nil
		}
	}
	total, r := newTally(), newRound(row.Iters)
	for i := range c.cfg.Rounds {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if i%2 == 1 {
			theirs()
		}
		if err := c.once(e, peer, r); err != nil {
			return err
		}
		p50, err := total.add(r)
		if err != nil {
			return err
		}
		if rival != nil {
			if e.measure == Rate {
				p50 = r.rate()
			}
			rival.ours = append(rival.ours, p50)
		}
		if i%2 == 0 {
			theirs()
		}
	}
	total.fill(row)
	if rival != nil {
		row.Perftest = rival.compare(version, total.perMicrosecond())
	}
	return c.ctx.Err()
}

// rival returns nil if there is nothing to compare with; the string is the reason.
func (c *client) rival(row *Row, e *end, peer *remote) (*rival, string) {
	if e.tool() == "" || c.cfg.NoPerftest || c.cfg.Wait {
		return nil, ""
	}
	v, err := version(c.ctx, e.tool())
	if err != nil {
		row.Missing = err.Error()
		return nil, ""
	}
	host, err := hostOf(c.peers[0])
	if err != nil {
		row.Missing = err.Error()
		return nil, ""
	}
	return &rival{ctx: c.ctx, dev: c.h.Device(), peer: peer, host: host,
		ask: request{Do: doServe, Tool: e.tool(), Size: e.size, Inline: e.inline, Iters: row.Iters, MTU: e.mtu, Depth: e.depth, Batch: e.batch}}, v
}
