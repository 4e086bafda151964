package mutant

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SQLite lists the mutants of NCL that the crash test of SQLite catches. It draws what is in
// flight at a crash at random, and misses bugs that show only in rare orders.
var SQLite = []string{"ack-at-f", "no-catch-up", "stamp-before-data", "take-minimum"}

// Crash is the result of `verbatim-run crash sqlite` for a mutant.
type Crash struct {
	Name, Title string
	Caught      bool
	Tried       string // how many crash points were tried, in its words
	Said        string // what was lost
	Seconds     float64
	Err         error // the mutant could not be applied, built or run
}

// Verdict returns the result in a word.
func (x *Crash) Verdict() string { return verdictOf(x.Err, x.Caught) }

// RunSQLite runs the crash test of SQLite with its log on mutants of opt.Protocol, which
// is ncl: those that opt names, or [SQLite]. done is called after each.
func RunSQLite(ctx context.Context, opt Options, done func(Crash)) error {
	if len(opt.Names) == 0 {
		opt.Names = SQLite
	}
	r, todo, err := prepare(ctx, opt)
	if err != nil {
		return err
	}
	defer r.close()
	for _, m := range todo {
		start := time.Now()
		x := Crash{Name: m.Name, Title: m.Title}
		x.Err = r.mutated(crashing, m, func(p *program) error { return p.crash(&x) })
		x.Seconds = time.Since(start).Seconds()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done(x)
	}
	return nil
}

// crash crashes SQLite with a mutant.
func (p *program) crash(x *Crash) error {
	opt := &p.r.opt
	out, err := p.run(p.r.ctx, p.dir, "crash", "sqlite", "--workers", strconv.Itoa(opt.Workers), "--max-time", opt.MaxTime.String())
	if code := exitCode(err); code != 0 && code != 1 && code != 3 {
		return fmt.Errorf("%s: %w", x.Name, err)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if said, ok := strings.CutPrefix(line, "VIOLATED: "); ok {
			x.Caught, x.Said = true, said
		}
		if _, counts, ok := strings.Cut(line, "crash points; "); ok {
			x.Tried, _, _ = strings.Cut(counts, " ")
		}
	}
	if x.Tried == "" || x.Caught != (exitCode(err) == 1) {
		return fmt.Errorf("%w: %s: verbatim-run crash sqlite printed %q", ErrTool, x.Name, out)
	}
	return nil
}
