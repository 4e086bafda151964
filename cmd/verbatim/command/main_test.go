package command

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/strace"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// restartFails is violated if host a crashes and starts again.
func restartFails(name string) *explore.Scenario {
	return &explore.Scenario{Name: name, Doc: "a never starts again", Bounds: "two hosts", Sometimes: []string{"never met"},
		Build: func(c *explore.Case) (sim.Config, error) {
			main := func(h host.Host, life int) {
				if life > 0 && h.Name() == "a" {
					c.Fail(errors.New("started again"))
				}
				if r, err := h.Alloc(8); err == nil {
					r.Store64(0, 1)
				}
			}
			again := func(_ int, crashed bool) bool { return crashed }
			return sim.Config{Profile: c.Profile, Budget: c.Budget,
				Nodes: []sim.Node{{Name: "a", Main: main, Again: again}, {Name: "b", Main: main, Again: again}}}, nil
		}}
}

// broken cannot be built.
func broken() *explore.Scenario {
	return &explore.Scenario{Name: "demo/broken", Build: func(*explore.Case) (sim.Config, error) {
		return sim.Config{}, errors.New("out of order")
	}}
}

// demo is a small protocol, and one that cannot be checked.
func demo() []Protocol {
	return []Protocol{{Name: "demo", Folders: []string{"demo"}, GoScenarios: "demo.Scenarios()", GoDeep: "demo.DeepScenarios()",
		Deep: func() []*explore.Scenario { return []*explore.Scenario{restartFails("demo/deep")} },
		Scenarios: func() []*explore.Scenario {
			return []*explore.Scenario{restartFails("demo/restart"), restartFails("demo/second")}
		},
		FromTrace: func(tr *strace.Trace) (*explore.Scenario, error) { return restartFails("demo/trace"), nil },
	}, {Name: "bad", Scenarios: func() []*explore.Scenario { return []*explore.Scenario{broken()} }}}
}

func init() { protocols = demo() }

// use makes these the protocols of a test.
func use(t *testing.T, p ...Protocol) {
	t.Cleanup(func() { protocols = demo() })
	protocols = p
}

// useDemo makes a small protocol the only one, in an empty directory.
func useDemo(t *testing.T) {
	use(t, demo()...)
	t.Chdir(t.TempDir())
}

// run is the program.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(""), args, stdout, stderr)
}

// command is this program.
var command = clitest.Program(run)

// usage is a command line, and parts of what it must print.
type usage clitest.Usage

// call runs the program.
func call(args ...string) (code int, stdout, stderr string) { return command.Call(args...) }

func write(t *testing.T, name, text string) { clitest.Write(t, name, text) }

const (
	goodTrace = `openat(AT_FDCWD, "/d/app.log", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3
write(3, "begin\n", 6) = 6
`
	cutTrace = `openat(AT_FDCWD, "/d/app.log", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3
write(3, "beg"..., 4096) = 4096
`
)

func TestExitStatus(t *testing.T) {
	useDemo(t)
	write(t, "good.strace", goodTrace)
	write(t, "cut.strace", cutTrace)
	write(t, "foreign.json", `{"name": "package.json"}`)
	write(t, "text.json", "hello")
	write(t, "version.json", `{"version": 99, "scenario": "demo/restart"}`)
	write(t, "scenario.json", `{"version": 1, "scenario": "demo/restrat"}`)
	write(t, "protocol.json", `{"version": 1, "scenario": "dmo/restart"}`)
	write(t, "profile.json", `{"version": 1, "scenario": "demo/restart", "profile": "stong"}`)
	write(t, "bad.profile", "base strong\nPlacment AnyOrder\n")
	write(t, "card", "base strong # mine\nplacement anyorder\nMTU 1024\n")
	write(t, "fixed.json", `{"version": 1, "scenario": "demo/restart", "profile": "strong", "faults": "none", "class": "violation"}`)
	for _, x := range []usage{
		{"", 0, "verbatim check demo\n", ""},
		{"--help", 0, "Exit status", ""},
		{"--version", 0, "verbatim version github.com/verbatim-rdma/verbatim", ""},
		{"version", 0, "verbatim version github.com/verbatim-rdma/verbatim", ""},
		{"version x", 2, "", "unknown"},
		{"chekc", 2, "", "chekc"},
		{"help check", 0, "Check searches", ""},
		{"help chekc", 2, "", "did you mean check?"},
		{"completion bsh", 2, "", "known: bash, fish, powershell, zsh; did you mean bash?"},
		{"completion bash", 0, "__start_", ""},
		{"vet", 2, "", "run vet in a module that requires github.com/verbatim-rdma/verbatim"},
		{"check", 2, "", ") or scenarios, not 0 arguments"},
		{"chekc demo", 2, "", "did you mean check?"},
		{"check demo", 0, "demo/second: VERIFIED", ""},
		{"check demo --workers 2 --details", 0, " s, 2 workers; ", ""},
		{"check demo/restart --timers free", 0, "assumes     profile strong; faults none; timers free\n", ""},
		{"check demo/restart demo", 0, "demo/second: VERIFIED", ""},
		{"check demo --strategy random --max-runs 20", 0, "CLEAN", ""},
		{"check demo --strategy pct --max-runs 20 --seed 3", 0, "with seed 3", ""},
		{"check demo/restart --faults crash(a)<=1", 1, "violation: started again", ""},
		{"check demo/restart --faults crash(a)<=1 --no-shrink --workers 1", 1, "2 decisions\n", ""},
		{"check demo/restart --faults crash(b)<=1 --max-runs 1", 3, "RAN OUT", ""},
		{"check demo bad", 2, "demo/second: VERIFIED", "out of order"},
		{"check bad demo --faults crash(a)<=1", 2, "VIOLATED", "out of order"},
		{"check demo/restrat", 2, "", "did you mean demo/restart?"},
		{"check dmo", 2, "", "did you mean demo?"},
		{"check demo --profile stong", 2, "", "did you mean strong?"},
		{"check demo --profile bad.profile", 2, "", "bad.profile: line 2, column 1: expected name, base"},
		{"check demo --profile none.profile", 2, "", "none.profile"},
		{"check demo/restart --profile ./card", 0, "assumes     profile strong+Placement=AnyOrder+MTU=1024; ", ""},
		{"check demo --strengthen fense", 2, "", "inline, fence, flush-read"},
		{"check demo/restart --strengthen fence+inline", 0, "profile strong with inline+fence; ", ""},
		{"check demo/restart --strengthen fence+inline --details", 0, "with        inline+fence\n", ""},
		{"matrix dmo", 2, "", "did you mean demo?"},
		{"matrix demo/restart", 2, "", "not one of its scenarios"},
		{"matrix demo --workers -1", 2, "", "at least 1"},
		{"matrix demo --json --markdown", 2, "", "json markdown"},
		{"matrix bad", 2, "", "out of order"},
		{"matrix demo", 0, "no scenario uses a Write", ""},
		{"matrix demo --max-time 1ns", 3, "a limit came first", ""},
		{"matrix demo --markdown", 0, "| demo | `strong` | **holds** |", ""},
		{"check demo --profile strong+CelBytes=1", 2, "", "did you mean CellBytes?"},
		{"check demo --faults crsh(a)<=1", 2, "", "\n  ^"},
		{"check demo --faults crash(peer*)<=1", 2, "", "--faults fits none of the 2 scenarios"},
		{"check demo/restart --faults crash(aa)<=1", 2, "", "demo/restart: faults: rule crash(aa)<=1: pattern \"aa\" matches no host; the hosts are a, b; did you mean a?\n"},
		{"check demo --watch --save s", 2, "", "--watch starts each check from the beginning"},
		{"check demo --watch", 2, "", "--watch: source: it is not in the source tree of github.com/verbatim-rdma/verbatim"},
		{"check demo --strategy exhausting", 2, "", "did you mean exhaustive?"},
		{"check demo --profile strong+Placement=AnyOrdr", 2, "", "did you mean AnyOrder?"},
		{"check demo --workers -1", 2, "", "--workers -1"},
		{"check demo --workers 5000", 2, "", "1 to 1024"},
		{"check demo --workers many", 2, "", "--help"},
		{"check demo --max-runs -1", 2, "", "--help"},
		{"check demo --step-timeout 0s", 2, "", "--step-timeout 0s"},
		{"check demo --max-time -1s", 2, "", "negative"},
		{"check demo --save s", 2, "", "--save and --resume need a single scenario, not 2"},
		{"check demo/restart --resume none", 2, "", "cannot resume"},
		{"check demo/restart --resume text.json", 2, "", "not a saved search"},
		{"check demo/restart --strategy pct --save s", 2, "", "another --seed"},
		{"check demo --trace good.strace", 0, "demo/trace: VERIFIED", ""},
		{"check demo --trace cut.strace", 2, "", "cut.strace: "},
		{"check demo --trace none.strace", 2, "", "none.strace"},
		{"check demo --trace good.strace --trace-file *.db", 2, "", "*.db"},
		{"check demo/restart --trace good.strace", 2, "", "no scenario"},
		{"check bad --trace good.strace", 2, "", "cannot make scenarios from traces"},
		{"check demo --trace-file *.db", 2, "", "--trace"},
		{"replay", 2, "", "takes one file"},
		{"mutants a b", 2, "", "takes one protocol, or litmus, or explore, not 2 arguments"},
		{"replay none.json", 2, "", "none.json"},
		{"replay .", 2, "", "directory"},
		{"replay foreign.json", 2, "", "not a counterexample"},
		{"replay text.json", 2, "", "not a counterexample"},
		{"replay version.json", 2, "", "another version"},
		{"replay scenario.json", 2, "", "did you mean demo/restart?"},
		{"replay protocol.json", 2, "", "unknown protocol \"dmo\""},
		{"replay protocol.json", 2, "", "protocol.json go test -count=1 -run TEST PACKAGE"},
		{"replay profile.json", 2, "", "did you mean strong?"},
		{"replay fixed.json", 0, "no longer fails", ""},
		{"replay fixed.json --trace good.strace", 2, "", "demo/trace"},
		{"list", 0, "demo/second", ""},
		{"list profiles", 0, "CellBytes", ""},
		{"list faults", 0, "partition(host,host)", ""},
		{"list fualts", 2, "", "did you mean faults?"},
		{"list scenarios profiles", 2, "", "unknown protocol \"profiles\""},
		{"mutants litmus --out d", 2, "", "--out is for the mutants of a protocol"},
		{"mutants litmus --workers 2", 2, "", "--workers is for the mutants of a protocol"},
		{"mutants explore --out d", 2, "", "--out is for the mutants of a protocol"},
		{"mutants explore --name none", 2, "", "source tree of github.com/verbatim-rdma/verbatim"},
		{"mutants demo --sample 3", 2, "", "--sample needs --generate"},
		{"mutants litmus --generate", 2, "", "--generate is for protocols"},
		{"mutants explore --results f", 2, "", "--results needs --generate"},
		{"mutants demo --generate --out d", 2, "", "--out is for mutants that are patches"},
		{"mutants demo --generate --seed 1", 2, "", "--seed needs --sample"},
		{"mutants demo --generate --sample -1", 2, "", "--sample -1"},
		{"mutants demo --generate --search-runs 0", 2, "", "must be at least 1"},
		{"mutants demo --generate --at-least 101", 2, "", "0 to 100"},
		{"mutants demo --generate --most 5", 2, "", "--most needs --changed-since"},
		{"mutants demo --generate --changed-since main --sample 9 --most 5", 2, "", "--most 5"},
		{"mutants bad --generate", 2, "", "names no Folders, so there is nothing to change"},
		{"mutants demo --generate", 2, "", "source tree of github.com/verbatim-rdma/verbatim"},
		{"mutants dmo", 2, "", "did you mean demo?"},
		{"completion bash", 0, "verbatim", ""},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

// Scenarios are named, or meant by a pattern, and a check may end with the first violation.
func TestSelects(t *testing.T) {
	useDemo(t)
	for _, x := range []usage{
		{"list scenarios demo/sec*", 0, "demo/second", ""},
		{"list scenarios demo/deep", 0, "demo/deep", ""},
		{"list scenarios demo/secnd", 2, "", "did you mean demo/second?"},
		{"check demo --mutants f", 2, "", "--mutants needs --report"},
		{"check demo --report r.html --mutants none.jsonl", 2, "", "none.jsonl"},
		{"list profiles demo", 2, "", "omit demo"},
		{"check demo/s*", 0, "demo/second: VERIFIED", ""},
		{"check dem?", 0, "demo/second: VERIFIED", ""},
		{"check demo/d* demo/restart", 2, "", "add --deep for demo/deep"},
		{"check demo/d* --deep --report r.html --matrix none", 0, "demo/deep: VERIFIED", ""},
		{"check demo/x*", 2, "", "no scenario matches \"demo/x*\"; known: demo/restart"},
		{"check demo/[", 2, "", "syntax error in pattern"},
		{"check demo --stop-at-first", 0, "demo/second: VERIFIED", ""},
		{"check demo --stop-at-first --faults crash(a)<=1", 1, "demo/restart: VIOLATED", "not checked: demo/second"},
		{"check demo --strategy mixed", 0, "exhausted; after 2,000 random runs", ""},
		{"check demo/restart --strategy mixed --max-runs 40 --faults crash(b)<=1", 0, "after 10 random runs", ""},
		{"check demo/restart --strategy mixed --faults crash(a)<=1", 1, "random with seed 0; not exhausted", ""},
		{"check demo/restart --strategy mixed --resume f", 2, "", "omit --strategy"},
		{"check demo/restart --faults crash(b)<=1 --max-memory 1KiB", 3, "reason      explore: the memory limit is reached", ""},
		{"check demo --max-memory 8GiB --strategy random", 2, "", "random keeps nothing"},
		{"check demo --max-memory lots", 2, "", "want a number of bytes"},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

// A mutant is caught by a counterexample that a person can follow.
func TestMutantStatus(t *testing.T) {
	for _, x := range []struct {
		r    mutant.Result
		want cli.Status
		text string
	}{
		{mutant.Result{Caught: true, Events: mutant.MaxEvents}, cli.OK, "1 of 1 mutants are caught\n"},
		{mutant.Result{Caught: true, Events: mutant.MaxEvents + 1}, cli.Violated, "counterexamples that are too long (more than 40 events): 1"},
		{mutant.Result{Name: "quick"}, cli.Violated, "0 of 1 mutants are caught\nnot caught: quick\n"},
		{mutant.Result{Err: errors.New("broken")}, cli.Bad, "error"},
	} {
		var b strings.Builder
		if err := mutantTable(&b, []mutant.Result{x.r}, mutant.MaxEvents); err != nil {
			t.Fatal(err)
		}
		if got := mutantStatus([]mutant.Result{x.r}); got != x.want || !strings.Contains(b.String(), x.text) {
			t.Errorf("%+v: status %d, want %d and %q in\n%s", x.r, got, x.want, x.text, &b)
		}
	}
}

// A mutant of the checker is caught only by what it names.
func TestCheckerStatus(t *testing.T) {
	for _, x := range []struct {
		r    mutant.CheckerResult
		want cli.Status
		text string
	}{
		{mutant.CheckerResult{Caught: true, Yardstick: "audit", Class: "c"}, cli.OK, "1 of 1 mutants of the checker are caught\n"},
		{mutant.CheckerResult{Yardstick: "audit", Found: []string{"d"}}, cli.Violated, "other reason"},
		{mutant.CheckerResult{}, cli.Violated, "survived"},
		{mutant.CheckerResult{Err: errors.New("broken")}, cli.Bad, "error"},
	} {
		var b strings.Builder
		if err := checkerTable(&b, []mutant.CheckerResult{x.r}); err != nil {
			t.Fatal(err)
		}
		if got := checkerStatus([]mutant.CheckerResult{x.r}); got != x.want || !strings.Contains(b.String(), x.text) {
			t.Errorf("%+v: status %d, want %d and %q in\n%s", x.r, got, x.want, x.text, &b)
		}
	}
}

func TestViolationReplays(t *testing.T) {
	useDemo(t)
	code, stdout, _ := call("check", "demo/restart", "--faults", "crash(a)<=1", "--out", "found")
	file := filepath.Join("found", "demo-restart.counterexample.json")
	if code != 1 || !strings.Contains(stdout, ReplayCommand(file)+"\n") || !strings.Contains(stdout, "✗ crashes") {
		t.Fatalf("status %d:\n%s", code, stdout)
	}
	code, stdout, stderr := call("replay", file)
	if code != 1 || !strings.Contains(stdout, "step by step") || strings.Contains(stdout, "allocates") {
		t.Errorf("status %d:\n%s%s", code, stdout, stderr)
	}
	if _, stdout, _ = call("replay", file, "--all"); !strings.Contains(stdout, "allocates") {
		t.Errorf("--all leaves allocations out:\n%s", stdout)
	}
	code, stdout, _ = call("replay", file, "--go")
	if code != 0 || !strings.Contains(stdout, `explore.Named(demo.Scenarios(), "demo/restart")`) {
		t.Errorf("status %d:\n%s", code, stdout)
	}
}

// Deep scenarios are checked if one asks for them, and replay as the others do.
func TestDeep(t *testing.T) {
	useDemo(t)
	for args, want := range map[string]int{"demo": 2, "demo --deep": 3, "demo/deep": 1, "demo demo/deep": 3} {
		code, stdout, stderr := call(append([]string{"check", "--json"}, strings.Fields(args)...)...)
		if n := strings.Count(stdout, "\n"); code != 0 || n != want {
			t.Errorf("check %s: status %d, %d scenarios, want %d\n%s", args, code, n, want, stderr)
		}
	}
	if code, stdout, _ := call("check", "demo/deep", "--faults", "crash(a)<=1", "--out", "."); code != 1 {
		t.Fatalf("status %d:\n%s", code, stdout)
	}
	code, stdout, stderr := call("replay", explore.FileName("demo/deep"), "--go")
	if code != 0 || !strings.Contains(stdout, `explore.Named(demo.DeepScenarios(), "demo/deep")`) {
		t.Errorf("status %d:\n%s%s", code, stdout, stderr)
	}
}

func TestTraceViolationReplays(t *testing.T) {
	useDemo(t)
	write(t, "good.strace", goodTrace)
	_, stdout, _ := call("check", "demo", "--trace", "good.strace", "--faults", "crash(a)<=1")
	want := "replay demo-trace.counterexample.json --trace good.strace\n"
	if !strings.Contains(stdout, want) {
		t.Fatalf("%q is missing in:\n%s", want, stdout)
	}
	if code, out, err := call("replay", "demo-trace.counterexample.json", "--trace", "good.strace"); code != 1 {
		t.Errorf("status %d:\n%s%s", code, out, err)
	}
	if code, _, err := call("replay", "demo-trace.counterexample.json"); code != 2 || !strings.Contains(err, "--trace") {
		t.Errorf("status %d: %s", code, err)
	}
}

func TestSaveAndResume(t *testing.T) {
	useDemo(t)
	if code, out, err := call("check", "demo/restart", "--faults", "crash(b)<=1", "--max-runs", "1", "--save", "s"); code != 3 || !strings.Contains(out, "--resume") {
		t.Fatalf("status %d:\n%s%s", code, out, err)
	}
	if code, out, err := call("check", "demo/restart", "--faults", "crash(b)<=1", "--resume", "s"); code != 0 {
		t.Errorf("status %d:\n%s%s", code, out, err)
	}
}

// A search that could not be saved is not begun, and no file is lost that is not a search.
func TestSaveRefuses(t *testing.T) {
	useDemo(t)
	write(t, "notes.txt", "mine")
	write(t, "empty", "")
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{strings.Repeat("s", 300): "file name too long", "none/s": "no such folder: none", "folder": "it is a folder", "notes.txt": "not a saved search", "empty": "", "new": ""} {
		code, out, stderr := call("check", "demo/restart", "--faults", "crash(b)<=1", "--max-runs", "1", "--save", file)
		if want == "" && code != cli.RanOut || want != "" && (code != cli.Bad || out != "" || !strings.Contains(stderr, "--save "+file+": "+want)) {
			t.Errorf("%s: status %d:\n%s%s", file, code, out, stderr)
		}
		if want == "" {
			if code, _, stderr = call("check", "demo/restart", "--faults", "crash(b)<=1", "--max-runs", "1", "--save", file); code != cli.RanOut {
				t.Errorf("%s, again: status %d: %s", file, code, stderr)
			}
		}
	}
	if text, err := os.ReadFile("notes.txt"); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q now: %v", text, err)
	}
}

// A file that cannot be written costs the file, and not the result.
func TestUnwritable(t *testing.T) {
	useDemo(t)
	if err := os.MkdirAll(filepath.Join("o", explore.FileName("demo/restart"), "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	protocols[0].Scenarios = func() []*explore.Scenario {
		s := restartFails("demo/restart")
		build := s.Build
		s.Build = func(c *explore.Case) (sim.Config, error) {
			os.RemoveAll("gone") // while the search goes on
			return build(c)
		}
		return []*explore.Scenario{s}
	}
	for _, x := range []struct{ args, stdout, stderr string }{
		{"check demo/restart --faults crash(b)<=1 --max-runs 1 --save gone/s", "RAN OUT", "save the search: open gone/s: "},
		{"check demo/restart --faults crash(b)<=1 --max-runs 1 --json --save gone/s", `"ran-out"`, "save the search: open gone/s: "},
		{"check demo/restart --faults crash(a)<=1 --out o", "violation: started again", "demo-restart"},
		{"check demo/restart --faults crash(a)<=1 --out o --json", `"violated"`, "demo-restart"},
	} {
		if err := os.MkdirAll("gone", 0o755); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(strings.Fields(x.args)...)
		if code != cli.Bad || !strings.Contains(stdout, x.stdout) || !strings.Contains(stderr, x.stderr) || strings.Contains(stdout, "--resume") {
			t.Errorf("%s: status %d:\n%s\n%s", x.args, code, stdout, stderr)
		}
	}
}

// An endless loop ends as a check that could not decide. The loop ends with the
// test: nothing else can end it.
func TestHangIsUnknown(t *testing.T) {
	useDemo(t)
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	loops := restartFails("demo/loops")
	loops.Build = func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(host.Host, int) {
			for !over.Load() {
			}
		}}}}, nil
	}
	protocols[0].Scenarios = func() []*explore.Scenario { return []*explore.Scenario{loops, restartFails("demo/second")} }
	code, stdout, stderr := call("check", "demo", "--step-timeout", "200ms")
	if code != cli.RanOut || stderr != "" || !strings.Contains(stdout, "a.0/main") || !strings.Contains(stdout, "command/main_test.go:") ||
		!strings.Contains(stdout, "demo/loops: UNKNOWN") || !strings.Contains(stdout, "demo/second: VERIFIED") {
		t.Errorf("status %d:\n%s\n%s", code, stdout, stderr)
	}
}

func TestJSONKeys(t *testing.T) {
	useDemo(t)
	_, stdout, stderr := call("check", "demo", "--json", "--faults", "crash(a)<=1")
	found := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(found) != 2 || stderr != "" {
		t.Fatalf("%d lines, want 2:\n%s%s", len(found), stdout, stderr)
	}
	keys := "scenario profile faults timers warning strategy verdict exhausted runs sampled states choices max_depth seconds workers counterexample " +
		"reason sometimes bounds eager_log10 remaining audit"
	d := json.NewDecoder(strings.NewReader(found[0]))
	var got []string
	for depth, isKey := 0, false; d.More() || depth > 0; {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = true
		case json.Delim('}'), json.Delim(']'):
			depth--
			isKey = true
		default:
			if depth == 1 && isKey {
				got = append(got, tok.(string))
			}
			isKey = !isKey
		}
	}
	if strings.Join(got, " ") != keys {
		t.Errorf("keys\n%v\nwant\n%s", got, keys)
	}
	if !strings.Contains(found[0], `"counterexample":null`) || !strings.Contains(found[0], `"verdict":"violated"`) {
		t.Errorf("got %s", found[0])
	}
	_, stdout, _ = call("check", "demo/restart", "--json", "--faults", "crash(a)<=1", "--out", ".")
	if !strings.Contains(stdout, `"counterexample":"demo-restart.counterexample.json"`) {
		t.Errorf("got %s", stdout)
	}
}

func TestListsAreJSON(t *testing.T) {
	for _, topic := range topics {
		_, stdout, _ := call("list", topic, "--json")
		for line := range strings.Lines(stdout) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %s", topic, line)
			}
		}
		if strings.Count(stdout, "\n") < 3 {
			t.Errorf("%s: %s", topic, stdout)
		}
	}
}

func TestCompletion(t *testing.T) {
	useDemo(t)
	for typed, want := range map[string]string{
		"check d":                    "demo/restart\ta never starts again",
		"check demo --profile r":     "relaxed",
		"check demo --profile rxe+M": "rxe+MTU=",
		"check demo --faults cr":     "crash(",
		"check demo --strategy p":    "pct",
		"mutants d":                  "demo",
		"list p":                     "profiles",
	} {
		code, stdout, _ := call(append([]string{"__complete"}, strings.Fields(typed)...)...)
		if code != 0 || !strings.Contains(stdout, want+"\n") {
			t.Errorf("%q completes to\n%s", typed, stdout)
		}
	}
}
