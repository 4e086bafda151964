package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/report"
)

const (
	reportWidth = 100
	labelWidth  = 12
)

// finding is the result of a check of one scenario.
type finding struct {
	s *explore.Scenario
	r *explore.Result
	x *audit.Report // nil: no audit
	// file is the counterexample's file. saved reports that all files were written.
	file        string
	saved       bool
	interrupted bool // by Ctrl-C
}

// report writes a result: the assumptions, the bounds, the size of the search, warnings and conditions that were not
// met; with --details everything.
func (f *checkFlags) report(w io.Writer, x *finding) error {
	var b strings.Builder
	r := x.r
	fmt.Fprintf(&b, "%s: %s\n", x.s.Name, coloured(w, r.Verdict, x.interrupted))
	if f.details {
		inDetail(&b, x.s, r)
	} else {
		inBrief(&b, r)
	}
	auditText(&b, x.x)
	if r.Reason != nil && !errors.Is(r.Reason, audit.ErrFinding) {
		field(&b, "reason", r.Reason.Error())
	}
	field(&b, "continue", f.howToContinue(x))
	if r.Counterexample != nil {
		f.violation(&b, x.s, r.Counterexample, x.file)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// coloured returns a verdict and its meaning, in a line.
func coloured(w io.Writer, v explore.Verdict, interrupted bool) string {
	text := report.Line(v)
	if interrupted && v == explore.RanOut {
		text = report.Interrupted
	}
	c := cli.Unsure
	switch v {
	case explore.Verified, explore.Clean:
		c = cli.Good
	case explore.Violated:
		c = cli.Wrong
	}
	word := report.Word(v)
	return cli.Coloured(w, c, word) + strings.TrimPrefix(text, word)
}

// inBrief writes the assumptions and bounds of a verdict in three lines, and any limits.
func inBrief(b *strings.Builder, r *explore.Result) {
	assumes := "profile " + r.Profile
	if r.Strengthen != 0 {
		assumes += " with " + r.Strengthen.String()
	}
	field(b, "assumes", assumes+"; faults "+r.Faults+"; timers "+r.Timers.String())
	field(b, "bounds", r.Bounds)
	text := searched(r) + "; " + short(r.Elapsed) + "; " + ended(r)
	met := 0
	for _, c := range r.Sometimes {
		if c.Met {
			met++
		}
	}
	if met > 0 {
		text += fmt.Sprintf("; %d of %s reached", met, number.Of(len(r.Sometimes), "condition"))
	}
	field(b, "search", text)
	field(b, "warning", r.Warning())
	for _, c := range r.Sometimes {
		if !c.Met {
			field(b, report.Met(r, c), c.Name)
		}
	}
}

// inDetail writes the whole result.
func inDetail(b *strings.Builder, s *explore.Scenario, r *explore.Result) {
	field(b, "checked", s.Doc)
	field(b, "profile", r.Profile)
	field(b, "with", r.Strengthen.String())
	field(b, "faults", r.Faults)
	field(b, "timers", r.Time())
	field(b, "warning", r.Warning())
	field(b, "bounds", r.Bounds)
	field(b, "search", assurance(r))
	for _, c := range r.Sometimes {
		field(b, report.Met(r, c), c.Name)
	}
}

// howToContinue describes how to continue a search that a limit or Ctrl-C stopped; it is empty for others.
func (f *checkFlags) howToContinue(x *finding) string {
	switch {
	case x.r.Verdict != explore.RanOut || x.r.Strategy != explore.Exhaustive:
		return ""
	case f.opt.Save == "":
		return "not possible: the search was not saved; with --save FILE a search that is stopped can continue"
	case !x.saved:
		return ""
	}
	return "with the same command and --resume " + explore.Quote(f.opt.Save)
}

// searched returns the number of runs and states of a search.
func searched(r *explore.Result) string {
	text := number.Of(r.Runs, "run")
	if r.Strategy == explore.Exhaustive {
		text += ", " + number.Of(r.States, "state")
	}
	return text
}

// ended describes the end of a search.
func ended(r *explore.Result) string {
	text := report.Ended(r)
	if r.Sampled > 0 {
		text += "; after " + number.Of(r.Sampled, "random run")
	}
	return text
}

// assurance describes in a line how much was searched.
func assurance(r *explore.Result) string {
	line := strings.Join([]string{searched(r), number.Of(r.Choices, "choice"), "depth " + strconv.Itoa(r.MaxDepth), short(r.Elapsed), number.Of(r.Workers, "worker")}, ", ")
	if n := report.Eager(r); n != "" {
		line += "; stands for " + n + " eager states"
	}
	return line + "; " + ended(r)
}

// violation writes the counterexample: the violation, its file, how to replay it, and
// its events.
func (f *checkFlags) violation(b *strings.Builder, s *explore.Scenario, ce *explore.Counterexample, file string) {
	field(b, "violation", ce.Class+": "+ce.Message)
	re, err := ce.Replay(s)
	if re != nil {
		field(b, "run", runText(ce, len(re.Events)))
	}
	if file != "" {
		verbatim(b, "file", file)
		verbatim(b, "replay", f.replayCommand(file))
		verbatim(b, "as a test", f.replayCommand(file)+" --go")
	}
	if err != nil {
		field(b, "replay", err.Error())
	}
	if re != nil {
		b.WriteString("\n")
		_ = timeline.Write(b, re.Timeline(), timeline.Options{})
	}
}

// runText measures a counterexample.
func runText(ce *explore.Counterexample, events int) string {
	text := number.Of(events, "event") + ", " + number.Of(len(ce.Decisions), "decision")
	if ce.Tries > 0 {
		text += fmt.Sprintf(" (found with %d, shrunk in %d runs)", ce.Found, ce.Tries)
	}
	return text
}

// replayCommand shows the counterexample in a file; empty for no file.
func (f *checkFlags) replayCommand(file string) string {
	if file == "" {
		return ""
	}
	return ReplayCommand(file) + traceArgs(f.trace, f.traceFile, "")
}

// traceArgs returns the flags with which a command in a folder makes the scenario of a trace.
func traceArgs(trace, pattern, folder string) string {
	if trace == "" {
		return ""
	}
	if !filepath.IsAbs(trace) {
		if from, err := filepath.Abs(folder); err == nil {
			if to, err := filepath.Abs(trace); err == nil {
				trace, _ = filepath.Rel(from, to) // both are absolute
			}
		}
	}
	out := " --trace " + explore.Quote(trace)
	if pattern != "" {
		out += " --trace-file " + explore.Quote(pattern)
	}
	return out
}

// field writes value after its label, wrapped to the width of the report.
func field(b *strings.Builder, label, value string) {
	if value == "" {
		return
	}
	for value := range strings.Lines(value) {
		value = cli.Wrap(strings.TrimRight(value, "\n"), reportWidth-labelWidth-2)
		for line := range strings.SplitSeq(value, "\n") {
			verbatim(b, label, strings.TrimRight(line, " "))
			label = ""
		}
	}
}

// verbatim writes a labelled text that must not be wrapped, to be copied.
func verbatim(b *strings.Builder, label, value string) {
	fmt.Fprintf(b, "  %-*s%s\n", labelWidth, label, value)
}

// short formats a duration briefly.
func short(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
