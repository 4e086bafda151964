package kvsoak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// Run runs a soak. A violation is in the report; an error concerns the processes.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &soak{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 5)), log: newLog()}
	s.g = newGroup(&s.cfg)
	defer s.g.endAll()
	err := s.begin(ctx)
	if err == nil {
		err = s.rounds(ctx)
	}
	if s.finish != nil {
		s.finish()
	}
	s.count()
	var violation *ViolationError
	if errors.As(err, &violation) {
		s.r.Violation, err = violation.Text, nil
	}
	return &s.r, err
}

type soak struct {
	cfg     Config
	rng     *rand.Rand
	r       Report
	g       *group
	log     *log
	host    host.Host      // of the clients
	judge   *kv.Client     // compares
	order   []int          // of the remaining acts: all happen before any is repeated
	back    string         // the memory node that has lost its memory, and was started again
	halted  []string       // suspended processes
	severed [][2]string    // links that are cut
	gate    sync.RWMutex   // held while a client works; no client works while it is held exclusively
	finish  func()         // stops the clients
	working sync.WaitGroup // clients
}

// begin starts the processes and the clients.
func (s *soak) begin(ctx context.Context) error {
	for _, name := range append(slices.Clone(memories), cpus...) {
		if err := s.g.start(ctx, name); err != nil {
			return err
		}
	}
	var err error
	if s.host, err = s.cfg.Host(s.g.resolve); err != nil {
		return err
	}
	if err := s.g.until(ctx, "a leader", s.g.whole); err != nil {
		return err
	}
	if s.judge, err = s.dial(); err != nil {
		return err
	}
	return s.employ(ctx)
}

// dial makes a client.
func (s *soak) dial() (*kv.Client, error) {
	const pause = 10 * time.Millisecond
	return kv.NewClient(s.host, kv.ClientConfig{Store: Store, Nodes: cpus, Rounds: 1 + int(s.cfg.Patience/pause), Pause: pause, Timeout: 200 * time.Millisecond})
}

// employ starts the clients, which work until finish.
func (s *soak) employ(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	s.finish = func() {
		end()
		s.working.Wait()
	}
	for i := range s.cfg.Clients {
		conn, err := s.dial()
		if err != nil {
			return err
		}
		c := &client{id: i, store: conn, log: s.log, rng: rand.New(rand.NewPCG(s.cfg.Seed, uint64(i)+100))}
		s.working.Go(func() {
			for ctx.Err() == nil {
				if s.log.full() {
					_ = s.pause(ctx, time.Millisecond) // until the round is over
					continue
				}
				s.gate.RLock()
				c.work()
				s.gate.RUnlock()
			}
		})
	}
	return nil
}

func (s *soak) rounds(ctx context.Context) error {
	for s.r.Rounds < s.cfg.Rounds {
		s.g.round = s.r.Rounds + 1
		if err := s.round(ctx); err != nil {
			return fmt.Errorf("round %d: %w", s.r.Rounds+1, err)
		}
		s.r.Rounds++
	}
	return nil
}

// round lets the clients work, injects the faults, repairs them, and compares.
func (s *soak) round(ctx context.Context) error {
	began, a := time.Now(), s.next()
	v := draw(s.rng, s.g.leader())
	if err := s.pause(ctx, time.Duration(20+s.rng.IntN(100))*time.Millisecond); err != nil {
		return err
	}
	before := s.log.done()
	if err := a.do(s, ctx, v); err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if err := s.heal(ctx); err != nil {
		return fmt.Errorf("after %s: %w", a.name, err)
	}
	during := s.log.done() - before
	compared, ordered, err := s.compare()
	if err != nil {
		return fmt.Errorf("after %s: %w", a.name, err)
	}
	s.r.Compared = compared
	s.r.Checked += ordered
	if s.cfg.Progress != nil {
		s.cfg.Progress(fmt.Sprintf("round %d: %s; %d operations meanwhile; %d in order, %d values compared, %v", s.r.Rounds+1, a.name, during, ordered, compared, time.Since(began).Round(time.Millisecond)))
	}
	return nil
}

// compare stops the clients for a moment, and compares.
func (s *soak) compare() (compared, ordered int, err error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.log.err != nil {
		return 0, 0, fmt.Errorf("%w: a client: %w", ErrStuck, s.log.err)
	}
	if err := settle(s.judge, s.r.Rounds); err != nil {
		return 0, 0, err
	}
	return s.log.compare(s.judge)
}

// next draws an act. All acts happen once before any is repeated.
func (s *soak) next() *act {
	for {
		if len(s.order) == 0 {
			s.order = s.rng.Perm(len(acts))
		}
		a := &acts[s.order[0]]
		if s.order = s.order[1:]; !a.cuts || s.cfg.Cuts {
			return a
		}
	}
}

// count fills in the operations of the clients.
func (s *soak) count() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.r.Acked, s.r.Gets, s.r.Unknown = s.log.acked, s.log.gets, s.log.unknown
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.r.Terms = s.g.view.term
}
