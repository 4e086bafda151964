package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
	"github.com/verbatim-rdma/verbatim/internal/codec/reclog"
)

// soak is one run.
type soak struct {
	cfg     Config
	rand    *rand.Rand
	counts  Counts
	round   int
	running []*process.Process // coordinator and peers, including dead ones
	control []string           // the flags about the controller
	peers   []*peer
	alive   []string // the peers of the file that have it
	without bool     // some were missing when the writer was started

	file string // the file that is being written, or empty
	life int    // of the writer, over all files
	expectation
	recovers, pace time.Duration // the time of a start with a recovery, and of a write
}

// peer is a log peer, which is restarted after each kill.
type peer struct {
	name, device string
	process      *process.Process // nil while it is dead
}

// Run runs a soak as configured. It returns the counts, even with an error. The error wraps
// [ErrLost] or [ErrStuck], or comes from ctx or the system.
func Run(ctx context.Context, cfg Config) (Counts, error) {
	if err := cfg.Validate(); err != nil {
		return Counts{}, err
	}
	s := &soak{cfg: cfg.complete(), rand: rand.New(rand.NewPCG(cfg.Seed, 0)), recovers: time.Second, pace: time.Millisecond}
	for i := range 2*s.cfg.F + 1 + s.cfg.Spares {
		at := 0
		if others := len(cfg.Devices) - 1; others > 0 {
			at = 1 + i%others
		}
		s.peers = append(s.peers, &peer{name: "peer" + strconv.Itoa(i+1), device: cfg.Devices[at]})
	}
	defer s.endAll()
	if err := s.controller(ctx); err != nil {
		return s.counts, err
	}
	for s.round = 1; s.round <= cfg.Rounds; s.round++ {
		p := draw(s.rand, &s.cfg, s.file == "")
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
		if p.Kill() == nil {
			_ = p.Bury(func(string) {}) // the process may have exited long ago
		}
	}
}

// controller starts a coordinator, unless there is an etcd cluster.
func (s *soak) controller(ctx context.Context) error {
	ttl := s.cfg.SessionTTL.String()
	if s.cfg.Etcd != "" {
		s.control = []string{"--etcd", s.cfg.Etcd, "--etcd-ttl", ttl, "--etcd-prefix", fmt.Sprintf("soak-%d-%d/", s.cfg.Seed, os.Getpid())}
		return nil
	}
	_, addr, err := s.serve(ctx, "coord", "coord", "--session-ttl", ttl)
	s.control = []string{"--coord", addr}
	return err
}

// victim returns the i-th peer of the file that may be killed: f+1 peers with the
// file must stay. Nil: none may be killed.
func (s *soak) victim(i int) *peer {
	if i < 0 || len(s.alive) <= s.cfg.F+1 {
		return nil
	}
	name := s.alive[i%len(s.alive)]
	for _, p := range s.peers {
		if p.name == name && p.process != nil {
			return p
		}
	}
	return nil
}

// one runs one round: a life of the writer, until it is killed.
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
	app, err := s.start("app", s.access(append(args, "--framed")...)...)
	if err != nil {
		return err
	}
	w := &writer{Process: app, began: time.Now(), more: make(chan struct{})}
	go w.feed(s.cfg.feed(), fed)
	defer w.feedMore() // feed must not wait forever
	s.without = len(s.alive) < 2*s.cfg.F+1
	err = s.live(ctx, w, &p)
	if err == nil {
		err = s.settle(w, fed)
	} else if w.Kill() == nil {
		_ = w.Bury(func(string) {}) // err is more important
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

// newFile lets all peers live, since a new file may need them.
func (s *soak) newFile(ctx context.Context) error {
	if err := s.revive(ctx); err != nil {
		return err
	}
	s.alive = nil
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
		args := append([]string{"peer", "--name", p.name, "--memory", strconv.Itoa(memory), "--collect-every", "1s", "--wait", s.cfg.Patience.String()}, s.control...)
		p.process, _, err = s.serve(ctx, p.name, s.device(p.device, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// device adds the flags of a card.
func (s *soak) device(name string, args ...string) []string {
	args = append(args, "--device", name)
	if s.cfg.AckTimeout != 0 {
		args = append(args, "--ack-timeout", s.cfg.AckTimeout.String())
	}
	return args
}

// access adds the flags for opening the file.
func (s *soak) access(args ...string) []string {
	args = append(args, "--file", s.file, "--f", strconv.Itoa(s.cfg.F), "--call-timeout", s.cfg.Patience.String(), "--wait", s.cfg.Patience.String())
	return s.device(s.cfg.Devices[0], append(args, s.control...)...)
}

// live runs the plan of a round: the life and death of the writer, and of a peer.
func (s *soak) live(ctx context.Context, w *writer, p *plan) error {
	if p.inRecovery {
		if err := w.until(ctx, s.cfg.Patience, func() bool { return !w.started.IsZero() }); err != nil {
			return err
		}
		if err := w.forSome(ctx, part(p.pause, s.recovers)); err != nil {
			return err
		}
		return s.die(w)
	}
	if err := w.until(ctx, s.cfg.Patience, w.has(p.acks)); err != nil {
		return err
	}
	if err := w.forSome(ctx, part(p.pause, 3*s.pace)); err != nil {
		return err
	}
	s.alive = w.alive
	victim := s.victim(p.peer)
	if victim == nil {
		p.peer = -1
		return s.die(w)
	}
	p.victim = victim.name
	if err := s.killPeer(victim, w, p); err != nil {
		return err
	}
	if p.together {
		return s.die(w)
	}
	if err := s.goOn(ctx, w, p); err != nil {
		return err
	}
	return s.die(w)
}

// has reports whether the writer has the file and n acknowledgements.
func (w *writer) has(n int) func() bool { return func() bool { return w.opened && w.acked >= n } }

// killPeer kills a peer, with the writer or without.
func (s *soak) killPeer(victim *peer, w *writer, p *plan) error {
	s.counts.PeerKills++
	if p.together {
		s.counts.TogetherKills++
		first, second := w.Process, victim.process
		if p.more%2 == 0 {
			first, second = second, first
		}
		if err := first.Kill(); err != nil {
			return err
		}
		if err := second.Kill(); err != nil {
			return err
		}
	}
	s.alive = slices.DeleteFunc(slices.Clone(s.alive), func(name string) bool { return name == victim.name })
	return victim.die()
}

// goOn lets the writer continue without a peer, and replace the peer if there is a spare.
// Then one more peer may die, since the file is on 2f+1 peers again.
func (s *soak) goOn(ctx context.Context, w *writer, p *plan) error {
	if !p.replaced || !s.spare() {
		p.replaced = false
		return w.until(ctx, s.cfg.Patience, w.has(min(w.acked+p.more, s.cfg.feed())))
	}
	before := w.repairs
	w.feedMore()
	if err := w.until(ctx, s.cfg.Patience, func() bool { return w.repairs > before }); err != nil {
		return err
	}
	s.alive = w.alive
	if len(s.alive) < 2*s.cfg.F+1 {
		return fmt.Errorf("%w: %s did not replace %s, although another peer is available; %s", ErrStuck, w.Name, p.victim, w.LastWords())
	}
	s.counts.Replacements++
	if victim := s.victim(p.more); p.again && victim != nil {
		p.victim += " and " + victim.name
		s.counts.PeerKills++
		s.counts.AgainKills++
		s.alive = slices.DeleteFunc(slices.Clone(s.alive), func(name string) bool { return name == victim.name })
		return victim.die()
	}
	return nil
}

// spare reports whether there is a peer that does not have the file.
func (s *soak) spare() bool {
	return slices.ContainsFunc(s.peers, func(p *peer) bool { return p.process != nil && !slices.Contains(s.alive, p.name) })
}

func part(fraction float64, of time.Duration) time.Duration {
	return time.Duration(fraction * float64(of))
}

// die kills the writer.
func (s *soak) die(w *writer) error {
	if err := w.Kill(); err != nil {
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
	case w.acked == s.cfg.feed() || w.acked == s.cfg.feed()+later:
		s.counts.IdleKills++
	}
	return nil
}

// die kills the peer, and so loses its memory.
func (p *peer) die() error {
	if err := p.process.Kill(); err != nil {
		return err
	}
	if err := p.process.Bury(func(string) {}); err != nil {
		return err
	}
	p.process = nil
	return nil
}

// settle checks what a writer recovered, and records what the next one must recover.
func (s *soak) settle(w *writer, fed func(i int) []byte) error {
	if !w.opened {
		return nil // the writer has written nothing, and has not shown the recovered records
	}
	if len(s.alive) == 0 {
		s.alive = w.alive
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

// compare compares the result of a recovery with the expected content.
func (s *soak) compare(got [][]byte) error {
	s.counts.Recoveries++
	s.counts.Returned += len(got)
	if s.without {
		s.counts.WithoutPeer++
	}
	if len(got) > len(s.known)+s.acked {
		s.counts.Beyond++
	}
	return s.check(got)
}

// used returns the largest number of bytes that the file may hold now.
func (s *soak) used() int {
	n := 0
	for i := range len(s.known) + s.acked + 1 {
		n += reclog.Header + len(s.want(i))
	}
	return n
}

// readAndDelete reads and deletes the file with the command recover.
func (s *soak) readAndDelete(ctx context.Context) error {
	s.without = len(s.alive) < 2*s.cfg.F+1
	p, err := s.start("app", s.access("recover", "--json", "--release")...)
	if err != nil {
		return err
	}
	got, err := readAll(ctx, p, s.cfg.Patience)
	if err != nil {
		if p.Kill() == nil {
			_ = p.Bury(func(string) {}) // err is more important
		}
		return err
	}
	if err := s.compare(got); err != nil {
		return err
	}
	s.file = ""
	return s.nothingLeft(ctx)
}

// nothingLeft checks that no peer lends memory once there is no file.
func (s *soak) nothingLeft(ctx context.Context) error {
	p, err := s.start("operator", append([]string{"peers", "--collect", "--json"}, s.control...)...)
	if err != nil {
		return err
	}
	return p.Rest(ctx, s.cfg.Patience, func(line string) error {
		var l struct {
			Name  string `json:"name"`
			Lent  *int   `json:"lent"`
			Error string `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return fmt.Errorf("%w: the list of peers has %q: %w", ErrStuck, line, err)
		}
		switch {
		case l.Lent == nil && s.lives(l.Name):
			return fmt.Errorf("%w: the list of peers does not show how much %s lends: %s", ErrStuck, l.Name, l.Error)
		case l.Lent != nil && *l.Lent != 0:
			return fmt.Errorf("%w: there is no file, but %s still lends %d bytes after a collection", ErrLeaked, l.Name, *l.Lent)
		}
		return nil
	})
}

// lives reports whether the peer of that name runs.
func (s *soak) lives(name string) bool {
	return slices.ContainsFunc(s.peers, func(p *peer) bool { return p.name == name && p.process != nil })
}

// report prints the counts of a round.
func (s *soak) report(w *writer, p *plan) {
	if s.cfg.Progress == nil {
		return
	}
	what := "the writer"
	switch {
	case !w.opened:
		what = "the writer while it recovered"
	case p.victim != "" && p.together:
		what = p.victim + " with the writer"
	case p.victim != "" && p.replaced:
		what = p.victim + ", which was replaced, then the writer"
	case p.victim != "":
		what = p.victim + ", then the writer"
	}
	fmt.Fprintf(s.cfg.Progress, "round %d: %s, %d records recovered, open after %v, %d acknowledged, killed %s after %v\n", s.round, s.file,
		len(w.shown), w.took.Round(time.Millisecond), w.acked, what, time.Since(w.began).Round(time.Millisecond))
}
