package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/device"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// mp is a litmus test.
const mp = `litmus mp
doc    The reader sees the flag and not the data.
source test
rule   placement-order
hosts  A B
dram   B: d f

thread A
  write d <- 1
  write f <- 1
thread B
  r1 = load f
  r2 = load d

exists stale: r1 == 1 && r2 == 0
  strong N
`

func TestLitmusUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Write(t, "mp.litmus", mp)
	for _, x := range []usage{
		{"litmus mp.litmus --runs 0", 2, "", "--runs and --patience must be positive"},
		{"litmus mp.litmus --profile rxf", 2, "", "did you mean rxe?"},
		{"litmus mp.litmus --outcomes", 2, "", "--help"},
	} {
		command.Try(t, clitest.Usage(x))
	}
	if !hw.Built {
		command.Try(t, clitest.Usage{Args: "litmus mp.litmus --device none0", Code: cli.Bad, Stderr: "go build -tags rdma"})
	}
}

// reported is what becomes of reports: the text, the lines of JSON and the status.
func reported(t *testing.T, args string, reps ...*device.Report) (string, []litmusLine, int) {
	t.Helper()
	f := &litmusFlags{runs: 50, seed: 7, patience: 2 * time.Second}
	var text, lines bytes.Buffer
	r := newLitmusReport(f, &text, nil)
	r.devices = []string{"rxe0", "rxe1"}
	for _, rep := range reps {
		if err := r.add(deviceTest{test: rep.Test, args: args}, rep); err != nil {
			t.Fatal(err)
		}
	}
	code := r.end(false)
	f.asJSON, r.w = true, &lines
	var out []litmusLine
	for _, rep := range reps {
		if err := r.add(deviceTest{test: rep.Test, args: args}, rep); err != nil {
			t.Fatal(err)
		}
	}
	for l := range strings.Lines(lines.String()) {
		var x litmusLine
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return text.String(), out, code
}

func TestDeviceReport(t *testing.T) {
	p, err := generate.Parse("A-wx-wy_B-ly-lx")
	if err != nil {
		t.Fatal(err)
	}
	x := p.Test()
	ok := &device.Report{Test: x, Profile: "rxe", Runs: 3, LeftOut: 1, Allowed: []string{"a", "b"}, Seen: []device.Seen{{State: "a", Count: 2, Allowed: true}}}
	text, lines, code := reported(t, "f.litmus", ok)
	if code != cli.OK || !strings.Contains(text, "1 of 2 allowed final states, 1 run left out") || !strings.Contains(text, "-  b\n") ||
		lines[0].Verdict != "ok" || len(lines[0].Seen) != 1 || len(lines[0].Allowed) != 2 {
		t.Errorf("%d\n%s%+v", code, text, lines)
	}
	const again = "verbatim-run litmus --program A-wx-wy_B-ly-lx --profile rxe --runs 50 --seed 7 --patience 2s --device rxe0,rxe1"
	wrong := &device.Report{Test: x, Profile: "rxe", Runs: 3, Allowed: []string{"a"}, Seen: []device.Seen{{State: "c", Count: 3}}}
	text, lines, code = reported(t, "--program "+x.Name, ok, wrong)
	if code != cli.Violated || !strings.Contains(text, "3  c   NOT ALLOWED by rxe") || !strings.Contains(text, "\nwrong: "+x.Name+"\n") || !strings.Contains(text, "run again with: "+again+"\n") ||
		lines[1].Verdict != "forbidden" || lines[1].Again != again {
		t.Errorf("%d\n%s%+v", code, text, lines)
	}
	refused := &device.Report{Test: x, Profile: "rxe", Refused: errors.New("EINVAL")}
	if text, lines, code = reported(t, "f", refused); code != cli.Violated || lines[0].Verdict != "refused" || !strings.Contains(text, "EINVAL") {
		t.Errorf("%d\n%s%+v", code, text, lines)
	}
	wrong.Seen[0].Why, refused.RefusedWhy = "this is why", "and this"
	if _, err := rxeLinks(nil); err == nil || !strings.Contains(err.Error(), "rxe-cut") {
		t.Error(err) // there is no such command here
	}
	text, lines, code = reported(t, "f", wrong, refused)
	if code != cli.OK || lines[0].Verdict != "known" || lines[1].Verdict != "known" || !strings.Contains(text, "known: this is why") ||
		!strings.Contains(text, "2 with known differences") {
		t.Errorf("%d\n%s%+v", code, text, lines)
	}
	nothing := &device.Report{Test: x, Profile: "rxe", Runs: 3, LeftOut: 3, Allowed: []string{"a"}}
	if text, lines, code = reported(t, "f", ok, nothing); code != cli.RanOut || lines[1].Verdict != "unknown" || !strings.Contains(text, "1 test unknown") ||
		!strings.Contains(text, "run again with: ") {
		t.Errorf("%d\n%s%+v", code, text, lines)
	}
	skipped := &device.Report{Test: x, Profile: "rxe", Skipped: "no power"}
	if text, _, code = reported(t, "f", skipped, skipped); code != cli.RanOut || !strings.Contains(text, "2 skipped: no power") {
		t.Errorf("%d\n%s", code, text)
	}
}

// The tests to run: files, named programs, and a sample that follows from the seed.
func TestDeviceTests(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Write(t, "mp.litmus", mp)
	names := func(f litmusFlags, args ...string) string {
		t.Helper()
		tests, code, err := f.tests(args, t.Output())
		if err != nil || code != 0 {
			t.Fatal(code, err)
		}
		var out []string
		for _, x := range tests {
			if _, err := litmus.Parse(x.test.Name, []byte(x.test.Text())); x.file != "" && err != nil {
				t.Error(err)
			}
			out = append(out, x.args)
		}
		return strings.Join(out, " ")
	}
	if got := names(litmusFlags{programs: []string{"A-wx_B-lx"}}); got != "--program A-wx_B-lx" {
		t.Error(got)
	}
	if got := names(litmusFlags{programs: []string{"A-wx_B-lx"}}, "mp.litmus"); got != "mp.litmus --program A-wx_B-lx" {
		t.Error(got)
	}
	a, b, c := names(litmusFlags{generated: 5, seed: 1}, "."), names(litmusFlags{generated: 5, seed: 1}, "."), names(litmusFlags{generated: 5, seed: 2}, ".")
	if a != b || a == c || strings.Count(a, "--program") != 5 || !strings.HasPrefix(a, "mp.litmus ") {
		t.Errorf("%s\n%s\n%s", a, b, c)
	}
}
