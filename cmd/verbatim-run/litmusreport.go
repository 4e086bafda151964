package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/litmus/device"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// litmusReport prints the results of cards, test by test.
type litmusReport struct {
	f       *litmusFlags
	w       io.Writer
	devices []string
	tests   int
	runs    int
	leftOut int
	seen    int // final states
	allowed int
	wrong   []string // names of tests
	known   int
	unknown int            // no run had an outcome
	skipped map[string]int // by reason
}

func newLitmusReport(f *litmusFlags, w io.Writer, devices []verbs.Device) *litmusReport {
	r := &litmusReport{f: f, w: w, skipped: map[string]int{}}
	for _, d := range devices {
		r.devices = append(r.devices, d.Attr().Name)
	}
	return r
}

// litmusLine is the JSON form of a test.
type litmusLine struct {
	File    string       `json:"file"`
	Test    string       `json:"test"`
	Profile string       `json:"profile"`
	Verdict string       `json:"verdict"`
	Reason  *string      `json:"reason"`
	Runs    int          `json:"runs"`
	LeftOut int          `json:"left_out"`
	Cut     int          `json:"cut"`
	Seen    []litmusSeen `json:"seen"`
	Allowed []string     `json:"allowed"`
	Seed    uint64       `json:"seed"`
	Seconds float64      `json:"seconds"`
	Again   string       `json:"again"`
}

type litmusSeen struct {
	State   string `json:"state"`
	Count   int    `json:"count"`
	Late    int    `json:"late"`
	Allowed bool   `json:"allowed"`
	Why     string `json:"why"`
}

// litmusVerdict is ok, skipped, known, refused, forbidden or unknown, and a reason.
func litmusVerdict(rep *device.Report) (string, string) {
	switch {
	case rep.Skipped != "":
		return "skipped", rep.Skipped
	case rep.Refused != nil && !rep.OK():
		return "refused", rep.Refused.Error()
	case rep.Refused != nil:
		return "known", rep.RefusedWhy
	case rep.OK() && rep.Differs():
		return "known", ""
	case !rep.OK():
		return "forbidden", "a card shows a final state that " + rep.Profile + " forbids"
	}
	if rep.Nothing() {
		return "unknown", "a loop gave up in every run: a request was lost, or the test needs more runs or more --patience"
	}
	return "ok", ""
}

// add reports one test.
func (r *litmusReport) add(t deviceTest, rep *device.Report) error {
	verdict, why := litmusVerdict(rep)
	if verdict == "skipped" {
		r.skipped[why]++
	} else {
		r.tests++
		r.runs += rep.Runs
		r.leftOut += rep.LeftOut
		r.seen += len(rep.Seen)
		r.allowed += len(rep.Allowed)
	}
	switch verdict {
	case "forbidden", "refused":
		r.wrong = append(r.wrong, t.test.Name)
	case "known":
		r.known++
	case "unknown":
		r.unknown++
	}
	if r.f.asJSON {
		x := litmusLine{File: t.file, Test: t.test.Name, Profile: rep.Profile, Verdict: verdict, Reason: cli.OrNull(why), Runs: rep.Runs,
			LeftOut: rep.LeftOut, Cut: rep.Cut, Seen: []litmusSeen{}, Allowed: append([]string{}, rep.Allowed...), Seed: r.f.seed,
			Seconds: rep.Elapsed.Seconds(), Again: r.again(t, rep)}
		for _, s := range rep.Seen {
			x.Seen = append(x.Seen, litmusSeen(s))
		}
		return cli.Lines(r.w).Encode(x)
	}
	return r.text(t, rep, verdict, why)
}

// again returns the command that runs a test once more with the same delays.
func (r *litmusReport) again(t deviceTest, rep *device.Report) string {
	cut := ""
	if r.f.cut {
		cut = " --cut"
	}
	return fmt.Sprintf("verbatim-run litmus %s --profile %s --runs %d --seed %d --patience %v%s --device %s", t.args, rep.Profile,
		r.f.runs, r.f.seed, r.f.patience, cut, strings.Join(r.devices, ","))
}

func (r *litmusReport) text(t deviceTest, rep *device.Report, verdict, why string) error {
	var b strings.Builder
	if verdict == "skipped" {
		fmt.Fprintf(&b, "%s: skipped: %s\n", t.test.Name, why)
		_, err := io.WriteString(r.w, b.String())
		return err
	}
	fmt.Fprintf(&b, "%s: %s: %s in %.2f s, %d of %s", t.test.Name, verdict, number.Of(rep.Runs, "run"), rep.Elapsed.Seconds(),
		len(rep.Allowed)-len(rep.Unseen()), number.Of(len(rep.Allowed), "allowed final state"))
	if rep.LeftOut > 0 {
		fmt.Fprintf(&b, ", %s left out", number.Of(rep.LeftOut, "run"))
	}
	if rep.Cut > 0 {
		fmt.Fprintf(&b, ", a link cut in %d", rep.Cut)
	}
	b.WriteString("\n")
	for _, s := range rep.Seen {
		mark := ""
		switch {
		case !s.Allowed && s.Why != "":
			mark = "   known: " + s.Why
		case !s.Allowed:
			mark = "   NOT ALLOWED by " + rep.Profile
		}
		if s.Late > 0 {
			mark += fmt.Sprintf("   (in %d runs the missing completion came only after another post)", s.Late)
		}
		fmt.Fprintf(&b, "  %8s  %s%s\n", number.Commas(s.Count), s.State, mark)
	}
	for _, s := range rep.Unseen() {
		fmt.Fprintf(&b, "  %8s  %s\n", "-", s)
	}
	if verdict == "known" && why != "" {
		fmt.Fprintf(&b, "  refused, known: %s\n", why)
	}
	if verdict == "unknown" || !rep.OK() {
		fmt.Fprintf(&b, "  %s\n  run again with: %s\n", why, r.again(t, rep))
	}
	_, err := io.WriteString(r.w, b.String())
	return err
}

// end prints the totals and returns the exit status.
func (r *litmusReport) end(stopped bool) int {
	code := cli.OK
	if stopped || r.tests == 0 || r.unknown > 0 {
		code = cli.RanOut
	}
	if len(r.wrong) > 0 {
		code = cli.Worse(code, cli.Violated)
	}
	if r.f.asJSON {
		return code
	}
	n := 0
	for _, k := range r.skipped {
		n += k
	}
	fmt.Fprintf(r.w, "\n%s on %s, %s (%s left out), %s seen of %s; %d wrong; %d with known differences; %d skipped\n", number.Of(r.tests, "test"),
		strings.Join(r.devices, " "), number.Of(r.runs, "run"), number.Commas(r.leftOut), number.Of(r.seen, "final state"),
		number.Commas(r.allowed), len(r.wrong), r.known, n)
	var reasons []string
	for why, k := range r.skipped {
		reasons = append(reasons, fmt.Sprintf("%5d skipped: %s", k, why))
	}
	slices.Sort(reasons)
	for i := len(reasons) - 1; i >= 0; i-- {
		fmt.Fprintln(r.w, reasons[i])
	}
	for _, name := range r.wrong {
		fmt.Fprintln(r.w, "wrong:", name)
	}
	if r.unknown > 0 {
		fmt.Fprintln(r.w, number.Of(r.unknown, "test")+" unknown: no run had an outcome")
	}
	if stopped {
		fmt.Fprintln(r.w, "stopped early")
	}
	return code
}
