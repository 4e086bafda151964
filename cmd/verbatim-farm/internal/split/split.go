// Package split divides a command line of verbatim into jobs that can run on different machines, and combines their
// results.
package split

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/farm"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// ErrUsage is wrapped by errors about a command line.
var ErrUsage = errors.New("not for a farm")

// Plan is a command line, divided into jobs.
type Plan struct {
	Jobs []farm.Job
	// Score: the jobs are the parts of a set of generated mutants, and their output is JSON. See [Score].
	Score *Score
	Out   string // the folder for the files of the jobs; empty: they write none
	// Control is how many of the jobs, the first ones, check the unchanged code. They print nothing, and must succeed.
	Control int
	// StopAtFirst: the jobs after one with status 1 are not wanted.
	StopAtFirst bool
}

// Source has what [Of] needs to divide a command line.
type Source struct {
	// Ask runs the program, and returns what it prints.
	Ask   func(args ...string) ([]byte, error)
	Root  string // the source tree; empty: none
	Parts int    // how many parts a set of generated mutants has
}

// elsewhere are the flags of verbatim that name a file of one machine.
var elsewhere = []string{"save", "resume", "html", "svg", "report", "results", "part", "trace", "trace-file"}

// Of divides a command line. Names come before flags, as in `check ncl sift --deep`.
func Of(args []string, src *Source) (*Plan, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("%w: name a command of verbatim, such as check", ErrUsage)
	}
	n := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	if n < 0 {
		n = len(args)
	}
	p := &Plan{}
	command, names, flags := args[0], args[1:n], slices.Clone(args[n:])
	if known := []string{"check", "mutants", "matrix", "litmus", "table1"}; !slices.Contains(known, command) {
		return nil, fmt.Errorf("%w: %q; known: %s%s", ErrUsage, command, strings.Join(known, ", "), mistake.DidYouMean(command, known))
	}
	if slices.Contains(flags, "-h") || on(flags, "help") {
		p.job(false, append(append([]string{command}, names...), "--help")...)
		return p, nil
	}
	if err := fit(command, flags); err != nil {
		return nil, err
	}
	if p.Out = take(&flags, "out"); p.Out == "" && command == "check" && !on(flags, "json") {
		p.Out = "." // where check writes without --out
	}
	if p.Out != "" {
		flags = append(flags, "--out="+farm.Folder)
	}
	var err error
	switch command {
	case "check":
		p.StopAtFirst = on(flags, "stop-at-first")
		err = p.check(src, names, flags)
	case "mutants":
		err = p.mutants(src, names, flags)
	case "matrix":
		err = p.matrix(src, names, flags)
	case "litmus":
		err = p.litmus(src, names, flags)
	case "table1":
		p.job(false, append([]string{command}, append(names, flags...)...)...)
	}
	if err == nil && len(p.Jobs) == 0 {
		err = fmt.Errorf("%w: %s has no jobs", ErrUsage, strings.Join(args, " "))
	}
	return p, err
}

// litmus makes one job. Its files are those of the source tree.
func (p *Plan) litmus(src *Source, names, flags []string) error {
	if len(names) > 0 && names[0] == "generate" {
		p.job(false, append([]string{"litmus"}, append(names, flags...)...)...)
		return nil
	}
	if src.Root == "" {
		return fmt.Errorf("%w: litmus needs the source tree: name it with --dir", ErrUsage)
	}
	for _, name := range names {
		st, err := os.Stat(filepath.Join(src.Root, name))
		if !filepath.IsLocal(name) || err != nil || !st.IsDir() && filepath.Ext(name) != ".litmus" {
			return fmt.Errorf("%w: %s is no *.litmus file or folder in the source tree", ErrUsage, name)
		}
	}
	p.job(true, append([]string{"litmus"}, append(names, flags...)...)...)
	return nil
}

func (p *Plan) job(source bool, args ...string) {
	p.Jobs = append(p.Jobs, farm.Job{Args: args, Source: source})
}

// listed is a line of `list scenarios --json`.
type listed struct {
	Name string `json:"name"`
	Deep bool   `json:"deep"`
}

func (s *Source) scenarios(names ...string) ([]listed, error) {
	text, err := s.Ask(append(append([]string{"list", "scenarios"}, names...), "--json")...)
	if err != nil {
		return nil, err
	}
	var out []listed
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x listed
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("the program's list of scenarios: %w", err)
		}
		out = append(out, x)
	}
	return out, lines.Err()
}

// check makes a job of each scenario, in the order of the names. As in the command check, deep ones are checked if they
// are named or --deep is given.
func (p *Plan) check(src *Source, names, flags []string) error {
	asked := [][]string{nil} // everything
	if len(names) > 0 {
		asked = nil
		for _, name := range names {
			asked = append(asked, []string{name})
		}
	}
	taken := map[string]bool{}
	for _, name := range asked {
		all, err := src.scenarios(name...)
		if err != nil {
			return err
		}
		if len(all) == 0 && name != nil && strings.Contains(name[0], "/") && !strings.ContainsAny(name[0], "*?[") {
			all = []listed{{Name: name[0]}} // only its name selects it: it must be violated
		}
		some := false
		for _, x := range all {
			if x.Deep && !on(flags, "deep") && !slices.Contains(names, x.Name) {
				continue
			}
			if some = true; !taken[x.Name] {
				taken[x.Name] = true
				p.job(false, append([]string{"check", x.Name}, flags...)...)
			}
		}
		if !some && name != nil {
			return fmt.Errorf("%w: %s names only scenarios that take hours, or none: add --deep", ErrUsage, name[0])
		}
	}
	return nil
}

// mutants makes a job of each mutant, after the checks of the unchanged code, or of each part of the generated ones.
func (p *Plan) mutants(src *Source, names, flags []string) error {
	if len(names) != 1 {
		return fmt.Errorf("%w: mutants takes one protocol, before its flags", ErrUsage)
	}
	if src.Root == "" {
		return fmt.Errorf("%w: mutants need the source tree: name it with --dir", ErrUsage)
	}
	protocol := names[0]
	if on(flags, "generate") {
		return p.generated(protocol, flags, src.Parts)
	}
	if has(flags, "name") || on(flags, "sqlite") {
		p.job(true, append([]string{"mutants", protocol}, flags...)...)
		return nil
	}
	patches, err := filepath.Glob(filepath.Join(src.Root, "testdata", "mutants", protocol, "*.patch"))
	if err == nil && len(patches) == 0 {
		err = fmt.Errorf("%w: there are no patches in testdata/mutants/%s of %s", ErrUsage, protocol, src.Root)
	}
	if err != nil {
		return err
	}
	control := !on(flags, "no-control") && protocol != "litmus" && protocol != "explore"
	flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--no-control" || strings.HasPrefix(f, "--no-control=") })
	if control {
		how := []string{"--strategy=exhaustive"}
		if timers, ok := value(flags, "timers"); ok {
			how = append(how, "--timers="+timers)
		}
		if err := p.check(src, names, how); err != nil {
			return err
		}
		p.Control = len(p.Jobs)
	}
	for _, patch := range patches {
		name := strings.TrimSuffix(filepath.Base(patch), ".patch")
		p.job(true, append([]string{"mutants", protocol, "--no-control", "--name=" + name}, flags...)...)
	}
	return nil
}

// matrix makes a job of each protocol: the cells of one follow from each other.
func (p *Plan) matrix(src *Source, names, flags []string) error {
	if len(names) == 0 {
		all, err := src.scenarios()
		if err != nil {
			return err
		}
		for _, x := range all {
			protocol, _, _ := strings.Cut(x.Name, "/")
			if !slices.Contains(names, protocol) {
				names = append(names, protocol)
			}
		}
	}
	for _, protocol := range names {
		p.job(false, append([]string{"matrix", protocol}, flags...)...)
	}
	return nil
}
