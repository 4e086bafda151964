package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/bench/virtual"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Figure is one number of the paper, and our number.
type Figure struct {
	Of    string  `json:"of"`   // where it is in the paper
	What  string  `json:"what"` // what was measured
	Unit  string  `json:"unit"`
	Paper float64 `json:"paper,omitempty"` // 0: the paper has none
	Ours  float64 `json:"ours"`
	// Input: ours equals the paper's because it is an input of the model.
	Input bool   `json:"input,omitempty"`
	Note  string `json:"note,omitempty"`
}

// Ratio returns our number divided by the paper's, which must not be 0.
func (f *Figure) Ratio() float64 { return f.Ours / f.Paper }

// The sizes of the experiments.
const (
	samples      = 100
	figure11File = 10 << 20 // the paper's file has 100 MB; the relevant times are proportional to the size
	table3File   = 60 << 20
	smallIO      = 128
)

// Paper repeats, in virtual time, the measurements of NCL itself in section 5 of SplitFT.
func Paper(ctx context.Context, m virtual.Model, progress func(string)) ([]Figure, error) {
	var all []Figure
	for _, x := range []struct {
		what string
		run  func(virtual.Model) ([]Figure, error)
	}{{"figure 8: writes", figure8}, {"figure 11a: reads", figure11}, {"table 3: replacement of a peer", table3}} {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		progress(x.what)
		f, err := x.run(m)
		if err != nil {
			return all, fmt.Errorf("%s: %w", x.what, err)
		}
		all = append(all, f...)
	}
	return all, nil
}

// figure8 returns the latency of writes, one after the other (5.1).
func figure8(m virtual.Model) ([]Figure, error) {
	figures := []Figure{
		{What: "a write of 128 bytes", Paper: 4.6},
		{What: "a write of 8 KiB", Note: "drawn without a number"},
		{What: "128 bytes, at the CPU's nominal clock", Note: "what if: 2.4 GHz"},
		{What: "128 bytes, without their library", Note: "what if: our code alone on the card, sending inline"},
	}
	for i, x := range []struct {
		model virtual.Model
		size  int
	}{{m, smallIO}, {m, 8192}, {m.At(virtual.NominalClock), smallIO}, {m.Bare(), smallIO}} {
		d, err := writing(x.model, x.size)
		if err != nil {
			return nil, err
		}
		f := &figures[i]
		f.Of, f.Unit, f.Ours = "figure 8", "µs", micro(d)
	}
	return figures, nil
}

func writing(m virtual.Model, size int) (time.Duration, error) {
	var each time.Duration
	err := inVirtualTime(m, nclF, nclPeers, func(h *virtual.Host, cfg ncl.Config) error {
		f, err := ncl.Create(h, cfg, "wal", samples*size)
		if err != nil {
			return err
		}
		data := make([]byte, size)
		began := h.Now()
		for i := range samples {
			if err := f.Record(i*size, data); err != nil {
				return err
			}
		}
		each = (h.Now() - began) / samples
		return nil
	})
	return each, err
}

// figure11 returns the latency of sequential reads of a file, with and without a share of the
// time of prefetching (5.4.1).
func figure11(m virtual.Model) ([]Figure, error) {
	r, err := sequential(m)
	if err != nil {
		return nil, err
	}
	slow, err := sequential(m.At(virtual.NominalClock))
	if err != nil {
		return nil, err
	}
	figures := []Figure{
		{What: "a read of 128 bytes, prefetched", Unit: "µs", Ours: micro(r.with()), Note: "drawn without a number"},
		{What: "a read of 128 bytes, from a peer", Unit: "µs", Ours: micro(r.remote), Note: "drawn without a number"},
		{What: "the latter by the former", Paper: 4.51 * 4, Ours: ratio(r.remote, r.with()), Note: "4.51 times CephFS, and CephFS 4 times NCL"},
		{What: "the same at the CPU's nominal clock", Ours: ratio(slow.remote, slow.with()), Note: "what if: 2.4 GHz"},
		{What: "the same with an existing buffer", Ours: ratio(r.remote, r.local+r.read), Note: "what if: only the Read is prefetching"},
	}
	for i := range figures {
		figures[i].Of = "figure 11a"
	}
	return figures, nil
}

// reads are latencies of reads of 128 bytes, and each read's share of prefetching.
type reads struct{ local, remote, register, read time.Duration }

func (r *reads) with() time.Duration { return r.local + r.register + r.read }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// sequential reads a file that a recovery has prefetched, and one from a peer.
func sequential(m virtual.Model) (r reads, err error) {
	err = inVirtualTime(m, 0, 1, func(h *virtual.Host, cfg ncl.Config) error {
		f, err := ncl.Create(h, cfg, "wal", figure11File)
		if err != nil {
			return err
		}
		f.Close()
		h.Events()
		if f, err = ncl.Recover(h, cfg, "wal"); err != nil {
			return err
		}
		r.register, r.read = prefetched(h.Events())
		r.register /= figure11File / smallIO
		r.read /= figure11File / smallIO
		p, began := make([]byte, smallIO), h.Now()
		for i := range samples {
			if _, err := f.ReadAt(p, i*smallIO); err != nil {
				return err
			}
		}
		r.local = (h.Now() - began) / samples
		return nil
	})
	if err != nil {
		return r, err
	}
	// The same call reads from a peer into the buffer, and then copies.
	r.remote, err = reading(m)
	r.remote += r.local
	return r, err
}

// prefetched returns the time that a recovery spent on its buffer and on reading the file into
// it. The rest of a recovery is the controller, the peers and their catch-up.
func prefetched(events []virtual.Event) (register, read time.Duration) {
	for _, e := range events {
		switch took := e.Ended - e.Began; e.Kind {
		case "register":
			register += took
		case "read":
			read = max(read, took)
		}
	}
	return register, read
}

// reading returns the latency of Reads of 128 bytes of a peer's memory.
func reading(m virtual.Model) (time.Duration, error) {
	var each time.Duration
	peer := func(h *virtual.Host) { _ = Serve(context.Background(), h) }
	err := inVirtualWorld(m, 1, peer, func(h *virtual.Host) error {
		e, err := newEnd(h, spec{Read, Completion, smallIO, 1, 1}, 0, true)
		if err != nil {
			return err
		}
		if err := e.open(&remote{h, PeerName(0)}); err != nil {
			return err
		}
		began := h.Now()
		err = e.closedLoop(make([]uint64, samples), 1)
		each = (h.Now() - began) / samples
		return err
	})
	return each, err
}

// table3 returns the replacement of a peer, by step (5.4.3).
func table3(m virtual.Model) ([]Figure, error) {
	var events []virtual.Event
	err := inVirtualTime(m, nclF, nclPeers+1, func(h *virtual.Host, cfg ncl.Config) error {
		f, err := ncl.Create(h, cfg, "wal", table3File)
		if err != nil {
			return err
		}
		if _, err := h.Call(f.Peers()[0], dieService, nil, time.Second); !errors.Is(err, host.ErrUnreachable) {
			return fmt.Errorf("the peer did not exit: %v", err)
		}
		for i := 0; f.Alive() == nclPeers; i++ {
			if err := f.Record(i, []byte{1}); err != nil {
				return err
			}
		}
		h.Events()
		err = f.Repair()
		events = h.Events()
		return err
	})
	if err != nil {
		return nil, err
	}
	return replacement(events)
}

// replacement splits the events of a Repair into the paper's steps, each from the end
// of the previous one to the end of its last event.
func replacement(events []virtual.Event) ([]Figure, error) {
	steps := []struct {
		Figure
		last string // the last event of the step
	}{
		{Figure{What: "get a peer from the controller", Paper: 3586, Input: true}, "lookup"},
		{Figure{What: "name it in the ap-map", Note: "ours only: before the peer is asked"}, "update"},
		{Figure{What: "connect to it and set up its region", Paper: 64871}, "setup"},
		{Figure{What: "catch up", Paper: 23368}, "call"},
		{Figure{What: "change the ap-map", Paper: 4734, Input: true}, "update"},
	}
	var out []Figure
	total := Figure{Of: "table 3", What: "in all, without the step that is ours only", Unit: "µs", Paper: 96559}
	at := events[0].Began
	for _, e := range events {
		if len(out) == len(steps) || e.Kind != steps[len(out)].last {
			continue
		}
		f := steps[len(out)].Figure
		f.Of, f.Unit, f.Ours = total.Of, total.Unit, micro(e.Ended-at)
		if f.Paper > 0 {
			total.Ours += f.Ours
		}
		at = e.Ended
		out = append(out, f)
	}
	if len(out) < len(steps) {
		return out, fmt.Errorf("a replacement of %d steps: %v", len(out), events)
	}
	return append(out, total), nil
}

func micro(d time.Duration) float64 { return float64(d) / 1e3 }

// dieService terminates a peer of these worlds.
const dieService = "die"

// inVirtualTime runs app with n log peers that have registered at the controller.
func inVirtualTime(m virtual.Model, f, n int, app func(h *virtual.Host, cfg ncl.Config) error) error {
	controller := func(h *virtual.Host) coord.Client { return virtual.Coord(h, coord.NewClient(h, "coord", "coord")) }
	peer := func(h *virtual.Host) {
		h.Go("serve", func() {
			err := ncl.ServePeer(h, ncl.PeerConfig{Memory: 4 * table3File, Coord: controller(h)})
			panic(err) // ServePeer must not return while its host runs
		})
		if l, err := h.Listen(dieService); err == nil {
			_, _ = l.Accept(verbs.Forever)
		}
	}
	return inVirtualWorld(m, n, peer, func(h *virtual.Host) error {
		return app(h, ncl.Config{App: "bench", F: f, Coord: controller(h), CallTimeout: time.Hour})
	})
}

// inVirtualWorld runs app with n peers, each with its own clock.
func inVirtualWorld(m virtual.Model, n int, peer func(h *virtual.Host), app func(h *virtual.Host) error) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	cluster, err := virtual.New(m)
	if err != nil {
		return err
	}
	once := func(int, bool) bool { return false }
	var result error
	cfg := sim.Config{Profile: profile, MaxSteps: 1 << 30, MaxPieces: 1,
		Services: []sim.Service{controller()},
		Nodes: []sim.Node{{Name: "app", Again: once, Main: func(h host.Host, _ int) {
			h.Sleep(0) // a timer goes off when nothing else can happen: the peers are ready
			result = app(cluster.Host(h))
		}}}}
	for i := range n {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: PeerName(i), Daemon: true, Again: once,
			Main: func(h host.Host, _ int) { peer(cluster.Peer(h)) }})
	}
	w, err := sim.New(cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Run(straight{}); err != nil {
		return err
	}
	return result
}
