package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/verbatim-rdma/verbatim/internal/codec/reclog"
)

// soak is one run.
type soak struct {
	cfg     Config
	rand    *rand.Rand
	counts  Counts
	round   int
	running []*process // coordinator and peers, dead ones too
	coord   string     // its address
	peers   []*peer

	file string // that is being written, or empty
	life int    // of the writer, over all files
	expectation
	recovers, pace time.Duration // how long a start with a recovery takes, and a write
}

// peer is a log peer, which lives again and again.
type peer struct {
	name, device, addr string
	process            *process // nil while it is dead
	lost               bool     // it has lost the file
}

// Run does what cfg says. It returns what it did, also with an error: one that wraps
// [ErrLost] or [ErrStuck], that of ctx, or one of the system.
func Run(ctx context.Context, cfg Config) (Counts, error) {
	if err := cfg.Validate(); err != nil {
		return Counts{}, err
	}
	s := &soak{cfg: cfg.complete(), rand: rand.New(rand.NewPCG(cfg.Seed, 0)), recovers: time.Second, pace: time.Millisecond}
	for i := range 2*s.cfg.F + 1 {
		at := 0
		if others := len(cfg.Devices) - 1; others > 0 {
			at = 1 + i%others
		}
		s.peers = append(s.peers, &peer{name: "peer" + strconv.Itoa(i+1), device: cfg.Devices[at]})
	}
	defer s.endAll()
	_, addr, err := s.serve(ctx, "coord", "coord")
	if err != nil {
		return s.counts, err
	}
	s.coord = addr
	for s.round = 1; s.round <= cfg.Rounds; s.round++ {
		p := draw(s.rand, &s.cfg, s.killable(), s.file == "")
		p.lastOfFile = p.lastOfFile || s.round == cfg.Rounds
		if err := s.one(ctx, p); err != nil {
			return s.counts, fmt.Errorf("round %d, life %d of the writer, file %s: %w", s.round, s.life, s.file, err)
		}
		s.counts.Rounds++
	}
	return s.counts, nil
}

func (s *soak) endAll() {
	for _, p := range s.running {
		if p.kill() == nil {
			_ = p.bury(func(string) {}) // it may have ended long ago
		}
	}
}

// killable are the peers that may be killed while this file is there.
func (s *soak) killable() []int {
	var out []int
	lost := 0
	for i, p := range s.peers {
		if p.lost && s.file != "" {
			lost++
		} else {
			out = append(out, i)
		}
	}
	if lost >= s.cfg.F {
		return nil
	}
	return out
}

// one does one round: a life of the writer, until it is killed.
func (s *soak) one(ctx context.Context, p plan) error {
	args := []string{"write", "--resume", "--show"}
	if s.file == "" {
		if err := s.newFile(ctx); err != nil {
			return err
		}
		args = []string{"write", "--size", strconv.Itoa(s.cfg.Size)}
	}
	s.life++
	life := s.life
	fed := func(i int) []byte { return record(&s.cfg, life, i) }
	process, err := s.start("app", s.access(append(args, "--framed")...)...)
	if err != nil {
		return err
	}
	w := &writer{process: process, began: time.Now()}
	go feed(process, s.cfg.feed(), fed)
	err = s.live(ctx, w, &p)
	if err == nil {
		err = s.settle(w, fed)
	} else if w.kill() == nil {
		_ = w.bury(func(string) {}) // err says what matters
	}
	if err != nil {
		return err
	}
	s.report(w, &p)
	if p.backAtOnce {
		if err := s.revive(ctx); err != nil {
			return err
		}
	}
	if p.lastOfFile || s.used()+s.cfg.need() > s.cfg.Size {
		return s.readAndDelete(ctx)
	}
	return nil
}

// newFile lets all peers live, since it takes all of them to create a file.
func (s *soak) newFile(ctx context.Context) error {
	if err := s.revive(ctx); err != nil {
		return err
	}
	for _, p := range s.peers {
		p.lost = false
	}
	s.counts.Files++
	s.file = "wal-" + strconv.Itoa(s.counts.Files)
	s.expectation = expectation{}
	return nil
}

// revive starts the peers that are dead.
func (s *soak) revive(ctx context.Context) error {
	for _, p := range s.peers {
		if p.process != nil {
			continue
		}
		var err error
		memory := 4*s.cfg.Size + 1<<16
		p.process, p.addr, err = s.serve(ctx, p.name, s.device(p.device, "peer", "--name", p.name, "--memory", strconv.Itoa(memory))...)
		if err != nil {
			return err
		}
	}
	return nil
}

// device adds the flags about a card.
func (s *soak) device(name string, args ...string) []string {
	args = append(args, "--device", name)
	if s.cfg.AckTimeout != 0 {
		args = append(args, "--ack-timeout", s.cfg.AckTimeout.String())
	}
	return args
}

// access adds the flags of whoever opens the file.
func (s *soak) access(args ...string) []string {
	args = s.device(s.cfg.Devices[0], append(args, "--file", s.file, "--coord", s.coord, "--call-timeout", s.cfg.Patience.String())...)
	for _, p := range s.peers {
		args = append(args, "--peer", p.name+"="+p.addr)
	}
	return args
}

// live is the writer's life and death, and a peer's.
func (s *soak) live(ctx context.Context, w *writer, p *plan) error {
	if p.inRecovery {
		if err := w.forSome(ctx, part(p.pause, s.recovers)); err != nil {
			return err
		}
		return s.die(w)
	}
	acked := func(n int) func() bool { return func() bool { return w.opened && w.acked >= n } }
	if err := w.until(ctx, s.cfg.Patience, acked(p.acks)); err != nil {
		return err
	}
	if err := w.forSome(ctx, part(p.pause, 3*s.pace)); err != nil {
		return err
	}
	if p.peer < 0 || w.alive <= s.cfg.F+1 { // it may be that the machine was too slow for one of the others
		p.peer = -1
		return s.die(w)
	}
	victim := s.peers[p.peer]
	s.counts.PeerKills++
	if p.together {
		s.counts.TogetherKills++
		first, second := w.process, victim.process
		if p.more%2 == 0 {
			first, second = second, first
		}
		if err := first.kill(); err != nil {
			return err
		}
		if err := second.kill(); err != nil {
			return err
		}
	}
	if err := victim.die(); err != nil {
		return err
	}
	if !p.together { // it must go on without the peer
		if err := w.until(ctx, s.cfg.Patience, acked(min(w.acked+p.more, s.cfg.feed()))); err != nil {
			return err
		}
	}
	return s.die(w)
}

func part(fraction float64, of time.Duration) time.Duration {
	return time.Duration(fraction * float64(of))
}

// die kills the writer.
func (s *soak) die(w *writer) error {
	if err := w.kill(); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	s.counts.WriterKills++
	s.counts.Acknowledged += w.acked
	switch {
	case !w.opened:
		s.counts.RecoveryKills++
	case w.acked == s.cfg.feed():
		s.counts.IdleKills++
	}
	return nil
}

// die kills the peer, and with it what it had of the file.
func (p *peer) die() error {
	if err := p.process.kill(); err != nil {
		return err
	}
	if err := p.process.bury(func(string) {}); err != nil {
		return err
	}
	p.process, p.lost = nil, true
	return nil
}

// settle compares what a writer recovered, and notes what the next one must.
func (s *soak) settle(w *writer, fed func(i int) []byte) error {
	if !w.opened {
		return nil // it has written nothing, and shown nobody what it read
	}
	if w.acked > 0 {
		s.pace = max(w.last.Sub(w.began)-w.took, 0) / time.Duration(w.acked)
	}
	if s.fed != nil {
		s.recovers = w.took
		if err := s.compare(w.shown); err != nil {
			return err
		}
	}
	s.returned(w.shown, fed)
	s.acked = w.acked
	return nil
}

// compare holds what a recovery returned against what it must.
func (s *soak) compare(got [][]byte) error {
	s.counts.Recoveries++
	s.counts.Returned += len(got)
	if slices.ContainsFunc(s.peers, func(p *peer) bool { return p.lost }) {
		s.counts.WithoutPeer++
	}
	if len(got) > len(s.known)+s.acked {
		s.counts.Beyond++
	}
	return s.check(got)
}

// used is the most that the file may hold now, in bytes.
func (s *soak) used() int {
	n := 0
	for i := range len(s.known) + s.acked + 1 {
		n += reclog.Header + len(s.want(i))
	}
	return n
}

// readAndDelete ends with the file, by the command recover.
func (s *soak) readAndDelete(ctx context.Context) error {
	p, err := s.start("app", s.access("recover", "--json", "--release")...)
	if err != nil {
		return err
	}
	got, err := p.readAll(ctx, s.cfg.Patience)
	if err != nil {
		if p.kill() == nil {
			_ = p.bury(func(string) {}) // err says what matters
		}
		return err
	}
	if err := s.compare(got); err != nil {
		return err
	}
	s.file = ""
	return nil
}

// report tells what a round did.
func (s *soak) report(w *writer, p *plan) {
	if s.cfg.Progress == nil {
		return
	}
	what := "the writer"
	switch {
	case !w.opened:
		what = "the writer while it recovered"
	case p.peer >= 0 && p.together:
		what = s.peers[p.peer].name + " with the writer"
	case p.peer >= 0:
		what = s.peers[p.peer].name + ", then the writer"
	}
	fmt.Fprintf(s.cfg.Progress, "round %d: %s, %d records recovered, open after %v, %d acknowledged, killed %s after %v\n", s.round, s.file,
		len(w.shown), w.took.Round(time.Millisecond), w.acked, what, time.Since(w.began).Round(time.Millisecond))
}
