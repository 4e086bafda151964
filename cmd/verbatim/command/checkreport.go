package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/internal/source"
	"github.com/verbatim-rdma/verbatim/internal/whole"
	"github.com/verbatim-rdma/verbatim/report"
)

// checkPage is the page that --report makes of the checks.
type checkPage struct {
	file   string // empty: no page was requested
	matrix string // the file that --matrix names
	cells  *cells // fills in the matrix
	scored string // the file that --mutants names
	traced string // the flags that a replay of a run beside the page needs

	uncounted error // why nothing counts what is reached
	profiles  []*coverage.Profile
	checks    []report.Check
	mutants   []mutant.Judged
}

// begin prepares a page, before anything is read. It may replace this program by another one:
// see counted.
func (p *checkPage) begin(ctx context.Context, f *checkFlags, args []string, stderr io.Writer) error {
	if p.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.file), 0o755); err != nil {
		return fmt.Errorf("--report %s: %w", p.file, err)
	}
	if st, err := os.Stat(p.file); err == nil && st.IsDir() {
		return fmt.Errorf("--report %s is a folder: name a file in it", p.file)
	}
	for _, name := range []string{p.matrix, p.scored, f.trace} {
		if name == "" || name == noMatrix {
			continue
		}
		if _, err := os.Stat(name); err != nil {
			return err
		}
	}
	p.traced = traceArgs(f.trace, f.traceFile, p.runs())
	p.uncounted = counted(ctx, args, stderr)
	return nil
}

// readMatrix reads the matrix, if one is named, and decides what to do about it.
func (p *checkPage) readMatrix(f *checkFlags, args []string) (err error) {
	if p.file != "" {
		p.cells, err = newCells(f, args)
	}
	return err
}

// readMutants reads the results of generated mutants, if a file of them is named, and finds
// their places in the source.
func (p *checkPage) readMutants(ctx context.Context, args []string) (err error) {
	if p.scored == "" {
		return nil
	}
	if p.mutants, err = mutant.ReadResults(p.scored); err != nil {
		return err
	}
	folders, kit, err := foldersOf(args)
	if err != nil {
		return err
	}
	return mutant.Locate(ctx, mutant.ByCommand, "", folders, kit, p.mutants)
}

// foldersOf returns the folders of the protocols of names, and the folders of code that they share with others.
func foldersOf(names []string) (folders, kit []string, err error) {
	for _, name := range protocolsOf(names) {
		p, err := protocolOf(name)
		if err != nil {
			return nil, nil, err
		}
		folders, kit = append(folders, p.Folders...), append(kit, p.Kit...)
	}
	return folders, kit, nil
}

// protocolsOf returns the protocols of names of protocols and scenarios.
func protocolsOf(names []string) []string {
	var out []string
	for _, n := range names {
		if name, _, _ := strings.Cut(n, "/"); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// clear sets the counters to zero, before a check.
func (p *checkPage) clear() {
	if p.file != "" && p.uncounted == nil {
		p.uncounted = coverage.Clear()
	}
}

// add adds a finished check: the lines that it reached, and the run that it found.
func (p *checkPage) add(s *explore.Scenario, r *explore.Result, replay string) error {
	if p.file == "" {
		return nil
	}
	x := report.Check{Scenario: s, Result: r, Replay: replay}
	if p.uncounted == nil {
		profile, err := coverage.Collect(context.Background()) // also of a check that was stopped
		if p.uncounted = err; err == nil {
			p.profiles = append(p.profiles, profile)
			x.Files = profile.Files(readSource)
		}
	}
	var err error
	if ce := r.Counterexample; ce != nil {
		x.Run, err = p.runPage(s, ce, ce.Scenario)
	}
	p.checks = append(p.checks, x)
	return err
}

// readSource reads a file of the source tree.
func readSource(name string) ([]byte, error) {
	root, err := source.Running().Root("")
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
}

// runs returns the folder next to the page that holds the pages of runs.
func (p *checkPage) runs() string { return strings.TrimSuffix(p.file, ".html") + "-runs" }

// runPage writes the page of a run and returns its path relative to the report.
func (p *checkPage) runPage(s *explore.Scenario, ce *explore.Counterexample, name string) (string, error) {
	if err := os.MkdirAll(p.runs(), 0o755); err != nil {
		return "", err
	}
	re, err := ce.ReplayFull(s)
	if err != nil && !errors.Is(err, explore.ErrNotReproduced) {
		return "", err
	}
	text, _ := outcome(ce, re)
	base := explore.FileName(name)
	if err := ce.Save(filepath.Join(p.runs(), base)); err != nil {
		return "", err
	}
	to := strings.TrimSuffix(base, ".counterexample.json") + ".html"
	run := page{file: filepath.Join(p.runs(), to), text: text, command: ReplayCommand(base) + p.traced, read: os.ReadFile}
	return "./" + url.PathEscape(filepath.Base(p.runs())) + "/" + url.PathEscape(to), run.write(s, ce, re)
}

// write writes the page of all checks, if there was any. Slow steps are announced on stderr.
func (p *checkPage) write(ctx context.Context, c *cobra.Command) error {
	if len(p.checks) == 0 {
		return nil
	}
	r := report.Report{Title: "Checks of " + cli.List(p.protocols()), Command: commandLine(),
		Made: made(), Checks: p.checks, Mutants: p.mutants, MutatedFiles: report.Files(p.mutants, readSource)}
	if len(p.mutants) == 0 {
		r.NoMutants = fmt.Sprintf("The share of mistakes that the scenarios catch is not known: pass --mutants FILE with the results of %s mutants %s --generate --results FILE.",
			programName(), p.protocols()[0])
	}
	if len(p.profiles) > 0 {
		r.Lines = coverage.Union(p.profiles).Files(readSource)
	}
	if p.uncounted != nil {
		r.NoCoverage = p.uncounted.Error() + "."
		if len(p.profiles) == 0 {
			r.NoCoverage += " Run the command in the source tree, with the go command installed; it then builds a program that counts lines."
		}
	}
	var err error
	if r.Cells, r.NoMatrix, err = p.cells.fill(ctx, p, c.ErrOrStderr()); err != nil {
		return err
	}
	return whole.Write(p.file, func(w io.Writer) error { return report.Write(w, &r) })
}

// protocols are the protocols of the checks.
func (p *checkPage) protocols() []string {
	var all []string
	for _, x := range p.checks {
		all = append(all, x.Scenario.Name)
	}
	return protocolsOf(all)
}

// commandLine returns the command line of this program, to be copied.
func commandLine() string {
	text := programName()
	for _, a := range os.Args[1:] {
		text += " " + explore.Quote(a)
	}
	return text
}

// made returns the date and the machine of a page.
func made() string {
	return fmt.Sprintf("Made on %s, on %s/%s with %d cores and %s.", time.Now().Format("2 January 2006 at 15:04 MST"), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), runtime.Version())
}
