package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// litmusReport prints results as soon as they are known, in the order of the jobs.
type litmusReport struct {
	f      *litmusFlags
	w      io.Writer
	widths [3]int
	head   bool
	counts map[string]int
	runs   uint64
	states uint64
	code   int
}

func newLitmusReport(f *litmusFlags, w io.Writer, jobs []*litmusJob) *litmusReport {
	r := &litmusReport{f: f, w: w, counts: map[string]int{}, widths: [3]int{4, 7, 7}}
	for _, j := range jobs {
		r.widths[0] = max(r.widths[0], len(j.test.Name))
		r.widths[1] = max(r.widths[1], len(j.profile))
		for i := range j.test.Outcomes {
			r.widths[2] = max(r.widths[2], len(j.test.OutcomeName(i)))
		}
	}
	return r
}

// litmusLine is the line of --json for an outcome under a profile.
type litmusLine struct {
	File           string   `json:"file"`
	Test           string   `json:"test"`
	Profile        string   `json:"profile"`
	Outcome        string   `json:"outcome"`
	Condition      string   `json:"condition"`
	Expected       string   `json:"expected"`
	Got            string   `json:"got"`
	Verdict        string   `json:"verdict"`
	Reason         *string  `json:"reason"`
	Finals         []string `json:"finals"`
	Runs           uint64   `json:"runs"`
	States         uint64   `json:"states"`
	Seconds        float64  `json:"seconds"`
	Counterexample *string  `json:"counterexample"`
}

// add reports one job.
func (r *litmusReport) add(j *litmusJob) error {
	if j.err != nil {
		return fmt.Errorf("%s with %s: %w", j.file, j.profile, j.err)
	}
	r.runs += j.result.Runs
	r.states += j.result.States
	for i := range j.result.Rows {
		row := &j.result.Rows[i]
		verdict, code := litmusVerdict(j.result, row)
		r.counts[verdict]++
		r.code = cli.Worse(r.code, code)
		file, err := r.save(j, row)
		if err != nil {
			return err
		}
		if r.f.asJSON {
			err = r.line(j, row, verdict, file)
		} else {
			err = r.row(j, row, verdict, file)
		}
		if err != nil {
			return err
		}
	}
	if r.f.outcomes && !r.f.asJSON {
		return r.finals(j)
	}
	return nil
}

// litmusVerdict returns the verdict in a word, and its exit status.
func litmusVerdict(res *litmus.Result, row *litmus.Row) (string, int) {
	switch {
	case row.Expected == litmus.Undecided && row.Got != litmus.Undecided:
		return "unasked", cli.OK
	case row.OK():
		return "ok", cli.OK
	case row.Wrong():
		return "wrong", cli.Violated
	case errors.Is(res.Reason, litmus.ErrUnsupported):
		return "unsupported", cli.RanOut
	case errors.Is(res.Reason, litmus.ErrStuck), errors.Is(res.Reason, litmus.ErrRefused):
		return "error", cli.Bad
	}
	return "undecided", cli.RanOut
}

// save writes the run that shows a wrong outcome.
func (r *litmusReport) save(j *litmusJob, row *litmus.Row) (string, error) {
	if row.Counterexample == nil || r.f.out == "" {
		return "", nil
	}
	name := explore.FileName(row.Counterexample.Scenario + "." + j.profile + "." + row.Outcome)
	path := strings.TrimSuffix(r.f.out, "/") + "/" + name
	return path, row.Counterexample.Save(path)
}

func (r *litmusReport) line(j *litmusJob, row *litmus.Row, verdict, file string) error {
	res := j.result
	x := litmusLine{File: j.file, Test: j.test.Name, Profile: j.profile, Outcome: row.Outcome, Condition: row.Cond,
		Expected: string(row.Expected), Got: string(row.Got), Verdict: verdict, Finals: res.Finals, Runs: res.Runs, States: res.States,
		Seconds: res.Elapsed.Seconds(), Counterexample: cli.OrNull(file)}
	if res.Reason != nil {
		x.Reason = cli.OrNull(res.Reason.Error())
	}
	if x.Finals == nil {
		x.Finals = []string{}
	}
	return cli.Lines(r.w).Encode(x)
}

// row writes a line of the table, and below it any errors.
func (r *litmusReport) row(j *litmusJob, row *litmus.Row, verdict, file string) error {
	var b strings.Builder
	format := fmt.Sprintf("%%-%ds  %%-%ds  %%-%ds  %%-8s  %%-3s  %%-11s  %%6s  %%7s  %%8s\n", r.widths[0], r.widths[1], r.widths[2])
	if !r.head {
		fmt.Fprintf(&b, format, "test", "profile", "outcome", "expected", "got", "verdict", "runs", "states", "seconds")
		r.head = true
	}
	res := j.result
	fmt.Fprintf(&b, format, j.test.Name, j.profile, row.Outcome, row.Expected, row.Got, verdict, number.Commas(res.Runs), number.Commas(res.States),
		fmt.Sprintf("%.3f", res.Elapsed.Seconds()))
	switch {
	case verdict == "wrong" && row.Got == litmus.Unreachable:
		fmt.Fprintf(&b, "\n  %s\n  no run reaches this; the final states of all runs:\n", row.Cond)
		for _, s := range res.Finals {
			b.WriteString("    " + s + "\n")
		}
		b.WriteString("\n")
	case row.Counterexample != nil:
		fmt.Fprintf(&b, "\n  %s\n  must not be reached, but a run reaches it:\n", row.Cond)
		if file != "" {
			fmt.Fprintf(&b, "  replay with: %s\n", ReplayCommand(file))
		}
		re, err := row.Replay()
		if re != nil {
			b.WriteString("\n")
			_ = writeTimeline(&b, re, j.test.Text(), timeline.Options{})
		}
		if err != nil {
			fmt.Fprintf(&b, "  but the replay failed: %v\n", err)
		}
		b.WriteString("\n")
	case res.Reason != nil && !row.OK():
		fmt.Fprintf(&b, "  %v\n", res.Reason)
	}
	_, err := io.WriteString(r.w, b.String())
	return err
}

// finals lists the final states of one job, with their outcomes.
func (r *litmusReport) finals(j *litmusJob) error {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s with %s has %s:\n", j.test.Name, j.profile, number.Of(len(j.result.Finals), "final state"))
	for _, s := range j.result.Finals {
		b.WriteString("    " + s + "\n")
	}
	_, err := io.WriteString(r.w, b.String())
	return err
}

// end prints the totals and returns the exit status.
func (r *litmusReport) end() int {
	if !r.f.asJSON && len(r.counts) > 0 {
		var parts []string
		for _, v := range []string{"ok", "wrong", "undecided", "unsupported", "error", "unasked"} {
			if n := r.counts[v]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, v))
			}
		}
		fmt.Fprintf(r.w, "\n%s; %s, %s\n", strings.Join(parts, ", "), number.Of(r.runs, "run"), number.Of(r.states, "state"))
	}
	return r.code
}
