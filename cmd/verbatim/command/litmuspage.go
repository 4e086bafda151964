package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// checkPage checks the flags for the page of an outcome.
func (f *litmusFlags) checkPage(args []string) error {
	switch {
	case f.html == "" && f.reach == "":
		return nil
	case f.html == "":
		return errors.New("--reach needs --html")
	case f.asJSON || f.outcomes || f.format || f.out != "":
		return errors.New("--html writes a page instead: omit --json, --outcomes, --format and --out")
	case len(args) != 1 || len(f.profiles) > 1:
		return errors.New("--html shows one run: name one file and at most one profile")
	}
	return nil
}

// writeLitmusPage searches for a run that reaches an outcome and writes its page.
func writeLitmusPage(c *cobra.Command, f *litmusFlags, file string) error {
	test, err := litmus.ParseFile(file)
	if err != nil {
		return err
	}
	reach, err := f.outcomeOf(test)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	profile := append(slices.Clone(f.profiles), litmus.Profiles(test)...)[0]
	s, err := litmus.Compile(test, reach)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	r, err := explore.Check(s, explore.Options{Profile: profile, Workers: f.workers, MaxTime: f.maxTime, Stop: func() bool { return ctx.Err() != nil }})
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	switch {
	case r.Counterexample == nil && r.Verdict == explore.Verified:
		return tells(w, cli.Violated, "no run of %s with %s reaches %s; all were tried\n", test.Name, profile, reach)
	case r.Counterexample == nil:
		return tells(w, cli.RanOut, "no run of %s with %s that reaches %s was found, and not all were tried\n", test.Name, profile, reach)
	}
	re, err := r.Counterexample.ReplayFull(s)
	if err != nil {
		return err
	}
	p := page{file: f.html, text: "reached", command: programName() + " litmus " + explore.Quote(file) + " --profile " + explore.Quote(profile) + " --reach " + explore.Quote(reach) + " --html FILE", read: os.ReadFile}
	if err := p.write(s, r.Counterexample, re); err != nil {
		return err
	}
	return tells(w, cli.OK, "a run of %s with %s reaches %s\n%s\n", test.Name, profile, reach, f.html)
}

// outcomeOf returns the outcome that --reach names; without --reach, the first one.
func (f *litmusFlags) outcomeOf(t *lang.Test) (string, error) {
	var names []string
	for i := range t.Outcomes {
		names = append(names, t.OutcomeName(i))
	}
	switch {
	case len(names) == 0:
		return "", errors.New("the test has no outcome")
	case f.reach == "":
		return names[0], nil
	case slices.Contains(names, f.reach):
		return f.reach, nil
	}
	return "", fmt.Errorf("unknown outcome %q; known: %s%s", f.reach, strings.Join(names, ", "), mistake.DidYouMean(f.reach, names))
}

// tells prints a line and returns an exit status.
func tells(w io.Writer, code int, format string, args ...any) error {
	if _, err := fmt.Fprintf(w, format, args...); err != nil {
		return err
	}
	return cli.Status(code).Err()
}
