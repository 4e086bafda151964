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
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/report"
)

const (
	reportWidth = 100
	labelWidth  = 12
)

// report writes a result for people. saved: every file that it names was written.
func (f *checkFlags) report(w io.Writer, s *explore.Scenario, r *explore.Result, x *audit.Report, file string, saved bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Name, report.Line(r.Verdict))
	field(&b, "checked", s.Doc)
	field(&b, "profile", r.Profile)
	field(&b, "with", r.Strengthen.String())
	field(&b, "faults", r.Faults)
	field(&b, "timers", r.Time())
	field(&b, "warning", r.Warning())
	field(&b, "bounds", r.Bounds)
	field(&b, "search", assurance(r))
	for _, c := range r.Sometimes {
		field(&b, report.Met(r, c), c.Name)
	}
	auditText(&b, x)
	if r.Reason != nil && !errors.Is(r.Reason, audit.ErrFinding) {
		field(&b, "reason", r.Reason.Error())
	}
	if r.Verdict == explore.RanOut && f.opt.Save != "" && saved && r.Strategy == explore.Exhaustive {
		field(&b, "saved", f.opt.Save+" (continue with --resume)")
	}
	if r.Counterexample != nil {
		f.violation(&b, s, r.Counterexample, file)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// assurance describes in a line how much was searched.
func assurance(r *explore.Result) string {
	parts := []string{number.Of(r.Runs, "run")}
	if r.Strategy == explore.Exhaustive {
		parts = append(parts, number.Of(r.States, "state"))
	}
	parts = append(parts, number.Of(r.Choices, "choice"), "depth "+strconv.Itoa(r.MaxDepth), short(r.Elapsed), number.Of(r.Workers, "worker"))
	line := strings.Join(parts, ", ")
	if n := report.Eager(r); n != "" {
		line += "; stands for " + n + " eager states"
	}
	line += "; " + report.Ended(r)
	if r.Sampled > 0 {
		line += "; after " + number.Of(r.Sampled, "random run")
	}
	return line
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
		_ = explore.WriteTimeline(b, re, explore.TimelineOptions{})
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

// short formats a duration for people.
func short(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
