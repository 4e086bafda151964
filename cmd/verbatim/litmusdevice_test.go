package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/device"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

func TestLitmusBackendFlags(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	for _, tt := range []struct{ args, want string }{
		{"--runs 3", "--runs has no meaning with --backend sim"},
		{"--seed 3", "--seed has no meaning with --backend sim"},
		{"--generated 3", "--generated has no meaning with --backend sim"},
		{"--known f", "--known has no meaning with --backend sim"},
		{"--backend rdma --workers 2", "--workers has no meaning with --backend rdma"},
		{"--backend rdma --outcomes", "--outcomes has no meaning with --backend rdma"},
		{"--backend rdma --profile rxe,iba", "one profile"},
		{"--backend rdam", "there are sim, rdma; did you mean rdma?"},
	} {
		code, _, stderr := call(append([]string{"litmus", "mp.litmus"}, strings.Fields(tt.args)...)...)
		if code != cli.Bad || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: %d %s", tt.args, code, stderr)
		}
	}
	if !hw.Built {
		code, _, stderr := call("litmus", "mp.litmus", "--backend", "rdma")
		if code != cli.Bad || !strings.Contains(stderr, "go build -tags rdma") {
			t.Errorf("%d %s", code, stderr)
		}
	}
}

// reported is what becomes of reports: the text, the lines of JSON and the status.
func reported(t *testing.T, args string, reps ...*device.Report) (string, []deviceLine, int) {
	t.Helper()
	f := &litmusFlags{device: deviceFlags{runs: 50, seed: 7, patience: 2 * time.Second}}
	var text, lines bytes.Buffer
	r := newDeviceReport(f, &text, nil)
	r.devices = []string{"rxe0", "rxe1"}
	for _, rep := range reps {
		if err := r.add(deviceTest{test: rep.Test, args: args}, rep); err != nil {
			t.Fatal(err)
		}
	}
	code := r.end(false)
	f.asJSON, r.w = true, &lines
	var out []deviceLine
	for _, rep := range reps {
		if err := r.add(deviceTest{test: rep.Test, args: args}, rep); err != nil {
			t.Fatal(err)
		}
	}
	for l := range strings.Lines(lines.String()) {
		var x deviceLine
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
	const again = "verbatim litmus --program A-wx-wy_B-ly-lx --backend rdma --profile rxe --runs 50 --seed 7 --patience 2s --device rxe0,rxe1"
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
	skipped := &device.Report{Test: x, Profile: "rxe", Skipped: "no power"}
	if text, _, code = reported(t, "f", skipped, skipped); code != cli.RanOut || !strings.Contains(text, "2 skipped: no power") {
		t.Errorf("%d\n%s", code, text)
	}
}

// The tests to run: files, named programs, and a sample that follows from the seed.
func TestDeviceTests(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	names := func(d deviceFlags, args ...string) string {
		t.Helper()
		f := &litmusFlags{device: d}
		tests, code, err := f.deviceTests(args, t.Output())
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
	if got := names(deviceFlags{programs: []string{"A-wx_B-lx"}}); got != "--program A-wx_B-lx" {
		t.Error(got)
	}
	if got := names(deviceFlags{programs: []string{"A-wx_B-lx"}}, "mp.litmus"); got != "mp.litmus --program A-wx_B-lx" {
		t.Error(got)
	}
	a, b, c := names(deviceFlags{generated: 5, seed: 1}, "."), names(deviceFlags{generated: 5, seed: 1}, "."), names(deviceFlags{generated: 5, seed: 2}, ".")
	if a != b || a == c || strings.Count(a, "--program") != 5 || !strings.HasPrefix(a, "mp.litmus ") {
		t.Errorf("%s\n%s\n%s", a, b, c)
	}
}
