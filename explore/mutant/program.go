package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A program with one mutant, and the questions to it.

// runner runs mutants.
type runner struct {
	ctx  context.Context
	opt  Options
	root string
	tmp  string // for what it builds
	all  *together
	// built are the programs with all mutants, by how they are built.
	built sync.Map
}

func (r *runner) close() { os.RemoveAll(r.tmp) }

// program is a command of this module, built with some files replaced.
type program struct {
	r   *runner
	dir string // for everything that belongs to it
	made
	scenarios []string
	deep      map[string]bool // those that `verbatim check` leaves out unless they are named
}

func (r *runner) build(main, name string, files map[string][]byte) (*program, error) {
	p := &program{r: r, dir: filepath.Join(r.tmp, name)}
	p.path = filepath.Join(p.dir, "program")
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	if err := goCommand(r.ctx, r.root, p.dir, files, "build", buildArgs(main, p.path)...); err != nil {
		return nil, err
	}
	if main != checking {
		return p, nil
	}
	out, err := p.run(r.ctx, p.dir, "list", "scenarios", "--json")
	if err != nil {
		return nil, err
	}
	if p.scenarios, p.deep, err = scenarios(out, r.opt.Protocol); err != nil {
		return nil, err
	}
	return p, nil
}

// scenarios reads the names of a protocol's scenarios from what `verbatim list
// scenarios --json` prints, and which of them are deep.
func scenarios(out []byte, protocol string) (names []string, deep map[string]bool, err error) {
	deep = map[string]bool{}
	for line := range bytes.Lines(out) {
		var x struct {
			Name string
			Deep bool
		}
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, nil, fmt.Errorf("%w: verbatim list scenarios --json printed %q: %w", ErrTool, line, err)
		}
		if strings.HasPrefix(x.Name, protocol+"/") {
			names, deep[x.Name] = append(names, x.Name), x.Deep
		}
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%w: protocol %s has no scenarios", ErrUnknown, protocol)
	}
	return names, deep, nil
}

// search checks one scenario. If classes are given in seek, it continues past violations of other
// classes.
func (p *program) search(scenario string, how round, seek []string) (*Search, error) {
	args := []string{"check", scenario, "--json", "--out", p.dir, "--workers", strconv.Itoa(p.r.opt.Workers),
		"--strategy", how.strategy, "--seed", "1", "--max-runs", strconv.Itoa(how.runs), "--max-time", p.r.opt.MaxTime.String()}
	if p.r.opt.Timers != "" {
		args = append(args, "--timers", p.r.opt.Timers)
	}
	for _, class := range seek {
		args = append(args, "--seek", class)
	}
	ctx := p.r.ctx
	if p.r.opt.MaxTime > 0 { // a mutant may loop where the search does not check the clock
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*p.r.opt.MaxTime+time.Minute)
		defer cancel()
	}
	out, err := p.run(ctx, p.dir, args...)
	if code := exitCode(err); code != 0 && code != 1 && code != 3 {
		return nil, err
	}
	return readSearch(out)
}

// readSearch reads the line that `verbatim check --json` prints.
func readSearch(line []byte) (*Search, error) {
	var x struct {
		Search
		Counterexample string
		Exhausted      bool
	}
	if err := json.Unmarshal(line, &x); err != nil {
		return nil, fmt.Errorf("%w: verbatim check --json printed %q: %w", ErrTool, line, err)
	}
	if x.Scenario == "" || x.Verdict == "" || (x.Verdict == explore.Violated) != (x.Counterexample != "") {
		return nil, fmt.Errorf("%w: verbatim check --json printed %q", ErrTool, line)
	}
	x.counterexample, x.exhausted = x.Counterexample, x.Exhausted
	return &x.Search, nil
}
