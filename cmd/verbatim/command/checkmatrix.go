package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/report"
)

// noMatrix is the value of --matrix that omits the matrix.
const noMatrix = "none"

// maxMatrixFile bounds the file of --matrix.
const maxMatrixFile = 4 << 20

// cellRuns bounds the search for the run of a cell without a counterexample.
const cellRuns = 200_000

// cells fills in the matrix of a page.
type cells struct {
	file      string // of verbatim matrix --json; empty: it is filled in
	protocols []*Protocol
	opt       matrix.Options
	read      []matrix.Cell // of the file
	why       string        // there is none
	found     map[string]string
}

// newCells decides for the arguments of a check whether the matrix is read, computed or omitted.
func newCells(f *checkFlags, args []string) (*cells, error) {
	x := &cells{file: f.page.matrix, opt: matrix.Options{Timers: f.opt.Timers, MaxRuns: f.opt.MaxRuns, MaxTime: f.opt.MaxTime, Workers: f.opt.Workers}, found: map[string]string{}}
	if x.file == noMatrix {
		x.why = "The matrix was omitted (--matrix none)."
		return x, nil
	}
	if f.trace != "" {
		x.why = "There is no matrix for a scenario made from a trace."
		return x, nil
	}
	for _, a := range args {
		p, err := protocolOf(a)
		if err != nil {
			return nil, err
		}
		if x.file == "" && p.Name != a {
			x.why = fmt.Sprintf("The matrix covers whole protocols: it is shown if all arguments are protocols (%s), or with --matrix FILE, the output of `%s matrix %s --json --out DIR`.", p.Name, programName(), p.Name)
			return x, nil
		}
		if !slices.Contains(x.protocols, p) {
			x.protocols = append(x.protocols, p)
		}
	}
	var err error
	if x.file != "" {
		x.read, err = readCells(x.file, x.protocols)
	}
	for i := range x.read { // report errors before hours of search
		if c := &x.read[i]; err == nil && c.Verdict == matrix.Breaks {
			if _, err = scenarioOf(c); err == nil {
				_, err = x.load(c.Counterexample)
			}
		}
	}
	return x, err
}

// scenarioOf returns the scenario that a cell breaks.
func scenarioOf(c *matrix.Cell) (*explore.Scenario, error) {
	p, err := protocolOf(c.Protocol)
	if err != nil {
		return nil, err
	}
	if s := explore.Named(p.all(), c.Scenario); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("a cell of the matrix breaks: %w; compute it again with %s matrix", noScenario(p, c.Scenario), programName())
}

// fill returns the matrix with the pages of its runs, or the reason why there is none.
func (x *cells) fill(ctx context.Context, page *checkPage, stderr io.Writer) ([]report.Cell, string, error) {
	if x.why != "" {
		return nil, x.why, nil
	}
	x.opt.Stop = func() bool { return ctx.Err() != nil }
	all := x.read
	if x.file == "" {
		var err error
		if all, err = x.search(page, stderr); err != nil {
			return nil, "", err
		}
	}
	var out []report.Cell
	for i := range all {
		c := report.Cell{Cell: all[i]}
		if c.Verdict == matrix.Breaks {
			run, err := x.run(page, &all[i])
			if err != nil {
				return nil, "", err
			}
			c.Run = run
		}
		c.Counterexample = "" // the page links to the run
		out = append(out, c)
	}
	return out, "The file of --matrix has no cell for the checked protocols.", nil
}

// search fills the matrix.
func (x *cells) search(page *checkPage, stderr io.Writer) ([]matrix.Cell, error) {
	remark(stderr, "computing the matrix for the report, which can take long; --matrix none omits it")
	x.opt.Out = page.runs()
	if err := os.MkdirAll(x.opt.Out, 0o755); err != nil {
		return nil, err
	}
	line := cli.NewSpinner(stderr)
	defer line.Clear()
	x.opt.Progress = line.Show
	var all []matrix.Cell
	for _, p := range x.protocols {
		got, err := matrix.Fill(matrix.Protocol{Name: p.Name, Scenarios: p.matrixScenarios()}, x.opt)
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
	return all, nil
}

// run returns the page of the run that breaks a cell: of the run in its file, or of a run that a new
// search finds; empty if there is none.
func (x *cells) run(page *checkPage, c *matrix.Cell) (string, error) {
	with := c.Profile
	if c.DerivedFrom != "" {
		with = c.DerivedFrom
	}
	key := c.Scenario + "-" + with
	if to, ok := x.found[key]; ok {
		return to, nil
	}
	s, err := scenarioOf(c)
	if err != nil {
		return "", err
	}
	ce, err := x.load(c.Counterexample)
	if err == nil && ce == nil {
		ce, err = x.again(s, with)
	}
	if err != nil || ce == nil {
		return "", err
	}
	to, err := page.runPage(s, ce, "matrix-"+key)
	x.found[key] = to
	return to, err
}

// load reads a counterexample, or returns nil if there is none. Its name is relative to the folder in
// which verbatim matrix ran, possibly the folder of its output.
func (x *cells) load(name string) (*explore.Counterexample, error) {
	if name == "" {
		return nil, nil
	}
	ce, err := explore.Load(name)
	if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(name) {
		ce, err = explore.Load(filepath.Join(filepath.Dir(x.file), name))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return ce, err
}

// again searches for a run that violates a scenario.
func (x *cells) again(s *explore.Scenario, profile string) (*explore.Counterexample, error) {
	r, err := explore.Check(s, explore.Options{Profile: profile, Timers: x.opt.Timers, Strategy: explore.Exhaustive, MaxRuns: cellRuns, MaxTime: x.opt.MaxTime, Workers: x.opt.Workers, Stop: x.opt.Stop})
	if err != nil {
		return nil, err
	}
	return r.Counterexample, nil
}

// readCells reads the output of `verbatim matrix --json`, for the given protocols.
func readCells(file string, protocols []*Protocol) ([]matrix.Cell, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--matrix: %w", err)
	}
	defer f.Close()
	var out []matrix.Cell
	empty := true
	lines := bufio.NewScanner(io.LimitReader(f, maxMatrixFile))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var c matrix.Cell
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil || c.Protocol == "" || c.Verdict == "" {
			return nil, fmt.Errorf("--matrix %s: line %d is not a cell; the file must be the output of `%s matrix --json`", file, n, programName())
		}
		empty = false
		if slices.ContainsFunc(protocols, func(p *Protocol) bool { return p.Name == c.Protocol }) {
			out = append(out, c)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("--matrix %s: %w", file, err)
	}
	if empty {
		return nil, fmt.Errorf("--matrix %s: it has no cells; the file must be the output of `%s matrix --json`", file, programName())
	}
	return out, nil
}
