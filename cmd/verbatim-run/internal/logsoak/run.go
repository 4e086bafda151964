package logsoak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
)

// ErrConfig is wrapped by every error of Config.
var ErrConfig = errors.New("logsoak: bad configuration")

// ErrStuck is [process.ErrStuck].
var ErrStuck = process.ErrStuck

// Config describes a soak.
type Config struct {
	Program   string   // verbatim-run
	Env       []string // in addition to the environment of this process
	Dir       string   // for the persistent memory and the logs of processes
	Rounds    int
	Frequency int
	Seed      uint64
	Patience  time.Duration // after this time a process counts as stuck
	// Progress, if set, is called after each round with a line of text.
	Progress func(line string)
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	if c.Program == "" || c.Dir == "" || c.Rounds < 1 || c.Frequency < 1 || c.Patience <= 0 {
		return fmt.Errorf("%w: %+v: a program and a directory are required; rounds, frequency and patience must be positive", ErrConfig, *c)
	}
	return nil
}

// Report is the result of a soak.
type Report struct {
	Rounds, Acked, Backups, Lost int // rounds, acknowledged records, killed backups, deleted copies of the primary
	Missing                      int // the most acknowledged records that a recovery lacked: fewer than the frequency
	Err                          error
}

// LossError: a recovery lacks a forced record, or returns other data.
type LossError struct{ Text string }

func (e *LossError) Error() string { return e.Text }

// Run runs a soak. A loss is in the report; an error concerns the processes.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &soak{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 3))}
	defer s.endAll()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	for s.r.Rounds < cfg.Rounds && ctx.Err() == nil {
		err := s.round(ctx)
		var loss *LossError
		if errors.As(err, &loss) {
			s.r.Err = err
			return &s.r, nil
		}
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", s.r.Rounds+1, err)
		}
		s.r.Rounds++
	}
	return &s.r, ctx.Err()
}

type soak struct {
	cfg     Config
	rng     *rand.Rand
	r       Report
	coord   string             // address
	running []*process.Process // all processes, including dead ones
	backups [2]*process.Process
	at      [2]string // their addresses
	// written has, by LSN, the records that primaries received and that may be in the log.
	written map[uint64]string
	first   uint64 // the first LSN that was not cleaned up
	forced  uint64 // the last LSN that a recovery must find
	acked   uint64
}

func (s *soak) dir(name string) string { return filepath.Join(s.cfg.Dir, name) }

func (s *soak) endAll() {
	for _, p := range s.running {
		if p.Kill() == nil {
			_ = p.Bury(func(string) {}) // the process may have exited long ago
		}
	}
}

// start starts `verbatim-run ARGS`.
func (s *soak) start(name string, args ...string) (*process.Process, error) {
	p := process.Program{Path: s.cfg.Program, Env: s.cfg.Env, Logs: s.cfg.Dir}
	return p.Start(name, fmt.Sprint("round ", s.r.Rounds+1), args...)
}

// serve starts a server, waits until it is ready, and returns it with its address.
func (s *soak) serve(ctx context.Context, name string, args ...string) (*process.Process, string, error) {
	p, err := s.start(name, args...)
	if err != nil {
		return nil, "", err
	}
	s.running = append(s.running, p)
	addr, err := p.Ready(ctx, s.cfg.Patience)
	return p, addr, err
}

func (s *soak) begin(ctx context.Context) (err error) {
	s.written, s.first = map[uint64]string{}, 1
	for _, name := range []string{"primary", "b0", "b1"} {
		if err := os.MkdirAll(s.dir(name), 0o755); err != nil {
			return err
		}
	}
	if _, s.coord, err = s.serve(ctx, "coord", "ncl", "coord", "--listen", "127.0.0.1:0"); err != nil {
		return err
	}
	for i := range s.backups {
		s.at[i] = "127.0.0.1:0"
		if err := s.back(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// back restarts backup i, at its previous address if it had one.
func (s *soak) back(ctx context.Context, i int) (err error) {
	name := "b" + strconv.Itoa(i)
	s.backups[i], s.at[i], err = s.serve(ctx, name, "arcadia", "backup", "--name", name, "--pmem", s.dir(name), "--listen", s.at[i], "--device", "soft")
	return err
}

// primary returns the arguments of a command that opens the log.
func (s *soak) primary(command string, more ...string) []string {
	return append([]string{"arcadia", command, "--pmem", s.dir("primary"), "--backup", "b0=" + s.at[0], "--backup", "b1=" + s.at[1],
		"--coord", s.coord, "--device", "soft"}, more...)
}

// round writes, kills, recovers and compares.
func (s *soak) round(ctx context.Context) error {
	p, err := s.start("append", s.primary("append", "--frequency", strconv.Itoa(s.cfg.Frequency))...)
	if err != nil {
		return err
	}
	s.running = append(s.running, p)
	line, err := p.Next(ctx, s.cfg.Patience)
	if err != nil {
		return err
	}
	_, after, ok := strings.Cut(line, "next ")
	next, err := strconv.ParseUint(after, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("%w: append printed %q", ErrStuck, line)
	}
	killed, victim := -1, 20+s.rng.IntN(200)
	for n := range victim + s.rng.IntN(200) {
		lsn := next + uint64(n)
		s.written[lsn] = fmt.Sprintf("round %d record %d %s", s.r.Rounds, lsn, strings.Repeat("x", s.rng.IntN(60)))
		if _, err := fmt.Fprintln(p.Stdin, s.written[lsn]); err != nil {
			return fmt.Errorf("%w: append accepts no input: %w", ErrStuck, err)
		}
		if n == victim && s.rng.IntN(2) == 0 {
			killed = s.rng.IntN(len(s.backups))
			if err := kill(s.backups[killed], func(string) {}); err != nil {
				return err
			}
			s.r.Backups++
		}
		if n%16 == 15 { // stay close to the acknowledgements
			if line, err := p.Next(ctx, s.cfg.Patience); err != nil {
				return err
			} else if err := s.ack(line); err != nil {
				return err
			}
		}
	}
	time.Sleep(time.Duration(s.rng.IntN(20)) * time.Millisecond) // the kill interrupts the writes
	var bad error
	if err := kill(p, func(line string) { bad = errors.Join(bad, s.ack(line)) }); err != nil || bad != nil {
		return errors.Join(err, bad)
	}
	if killed >= 0 {
		if err := s.back(ctx, killed); err != nil {
			return err
		}
	} else if s.rng.IntN(3) == 0 { // the device is lost with the process
		if err := os.RemoveAll(s.dir("primary")); err != nil {
			return err
		}
		if err := os.MkdirAll(s.dir("primary"), 0o755); err != nil {
			return err
		}
		s.r.Lost++
	}
	return s.compare(ctx)
}

// kill kills a process and passes its remaining lines to line.
func kill(p *process.Process, line func(string)) error {
	if err := p.Kill(); err != nil {
		return err
	}
	return p.Bury(line)
}

// ack counts an acknowledged record.
func (s *soak) ack(line string) error {
	n, ok := strings.CutPrefix(line, "ack ")
	lsn, err := strconv.ParseUint(n, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("%w: append printed %q", ErrStuck, line)
	}
	s.r.Acked++
	s.acked = lsn
	if lsn%uint64(s.cfg.Frequency) == 0 {
		s.forced = lsn
	}
	return nil
}

// compare recovers the log, checks its records, and cleans it up.
func (s *soak) compare(ctx context.Context) error {
	next := s.first
	p, err := s.start("dump", s.primary("dump", "--json", "--clean")...)
	if err != nil {
		return err
	}
	s.running = append(s.running, p)
	err = p.Rest(ctx, s.cfg.Patience, func(line string) error {
		var r struct {
			LSN  uint64
			Data []byte
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return fmt.Errorf("%w: dump printed %q: %w", ErrStuck, line, err)
		}
		if r.LSN != next || s.written[r.LSN] != string(r.Data) {
			return &LossError{fmt.Sprintf("record %d is %q, want record %d: %q", r.LSN, r.Data, next, s.written[next])}
		}
		next++
		return nil
	})
	if err != nil {
		return err
	}
	if next <= s.forced {
		return &LossError{fmt.Sprintf("record %d was forced, but the log ends with %d", s.forced, next-1)}
	}
	missing := 0
	if s.acked >= next {
		missing = int(s.acked + 1 - next)
	}
	s.r.Missing = max(s.r.Missing, missing)
	if missing >= s.cfg.Frequency {
		return &LossError{fmt.Sprintf("%d acknowledged records are missing", missing)}
	}
	if s.cfg.Progress != nil {
		s.cfg.Progress(fmt.Sprintf("round %d: records %d to %d, %d acknowledged, %d missing", s.r.Rounds+1, s.first, next-1, s.acked, missing))
	}
	clear(s.written)
	s.first, s.acked, s.forced = next, next-1, next-1
	return nil
}
