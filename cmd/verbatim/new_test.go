package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

// newModule writes a module into a folder, without a network.
func newModule(t *testing.T) string {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	dir := filepath.Join(t.TempDir(), "lock")
	if code, out, stderr := call("new", dir); code != 0 || !strings.Contains(out, "example.com/lock is written") {
		t.Fatalf("status %d: %s%s", code, out, stderr)
	}
	return dir
}

// inShell runs a command line in a folder, as a user does, and returns its status and all that it printed.
func inShell(t *testing.T, dir, line string) (int, string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", line)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// A path that Go or verbatim uses is refused before anything is written.
func TestNewRefusesPathsOfOthers(t *testing.T) {
	for module, owner := range map[string]string{"fmt": "the standard library", "std": "the standard library", "net/http": "the standard library",
		"github.com/verbatim-rdma/verbatim": "verbatim", "github.com/verbatim-rdma/verbatim/lock": "verbatim"} {
		dir := filepath.Join(t.TempDir(), "lock")
		code, _, stderr := call("new", dir, "--module", module)
		if code != 2 || !strings.Contains(stderr, module+" is a path of "+owner) {
			t.Errorf("%s: status %d: %s", module, code, stderr)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: %s was made nevertheless", module, dir)
		}
	}
}

// A new module passes its checks at once, and its mutant is caught. Every command of verbatim knows its protocol.
func TestNewModuleWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs; go test ./... runs it")
	}
	dir := newModule(t)
	for line, want := range map[string]string{
		"go vet ./... && gofmt -l .": "",
		"go run . vet":               "",
		"go vet -vettool=$(go tool -n verbatim-vet) ./...": "",
		"go test ./...":           "ok  \texample.com/lock/registercheck",
		"go run . list":           "register/recovery",
		"go run . --help":         "lock replay register-recovery.counterexample.json",
		"go run . check register": "register/recovery: VERIFIED",
		"go run . mutants register --out found && go run . replay found/one-answer.counterexample.json --width 100; [ $? = 1 ]": "still fails; the run is identical",
		"go run . matrix register --max-runs 20 || [ $? = 1 ]":                                                                  "no scenario uses an Atomic",
		"go run . check register --report r.html --matrix none":                                                                 "exhausted",
		"go run . explore register/none || [ $? = 1 ]":                                                                          "unknown scenario \"register/none\"; known: register/recovery",
		"go run . mutants register --generate --name x || true":                                                                 "a mutant is called FUNCTION:OPERATOR:NUMBER, such as register.",
		"go run . mutants explore || [ $? = 1 ]":                                                                                "testdata/mutants/explore has no patches",
		"go run main.go mutants register || [ $? = 1 ]":                                                                         "build its package, as `go run .` does",
		"cd .. && go run -C lock . check ncl || [ $? = 1 ]":                                                                     "unknown protocol \"ncl\"; known: register",
		"go build -o ../check . && cd .. && ./check mutants register || [ $? = 2 ]":                                             "it is not in the source tree of example.com/lock",
	} {
		if code, out := inShell(t, dir, line); code != 0 || !strings.Contains(out, want) || want == "" && out != "" {
			t.Errorf("%s: status %d; want %q:\n%s", line, code, want, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "r.html"))
	if err != nil || !bytes.Contains(page, []byte("register/register.go: ")) {
		t.Errorf("the page has no lines of the protocol: %v", err)
	}
	if page, err = os.ReadFile(filepath.Join(dir, "found", "one-answer.html")); err != nil || !bytes.Contains(page, []byte("go run example.com/lock replay ")) {
		t.Errorf("the page of the mutant does not say how to replay it: %v", err)
	}
}

// shownReplay are the commands that replay a run, as a check and a test print them.
var shownReplay = regexp.MustCompile(`(?m)(?:^  replay +|^ +)(go run \S+ replay \S+|VERBATIM_REPLAY=.*)$`)

// A mistake in the protocol is found by the check and by the test, and the commands that they print replay the run. Once
// it is mended, they say so.
func TestNewModuleCatchesMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs; go test ./... runs it")
	}
	dir := newModule(t)
	t.Setenv("VERBATIM_OUT", t.TempDir())
	pages := t.TempDir()
	t.Setenv("VERBATIM_HTML", pages)
	name := filepath.Join(dir, "register", "register.go")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(good), " && c.Done == r.ids", "", 1)
	clitest.Write(t, name, bad)
	var replays []string
	for _, line := range []string{"go run . check register", "go test ./..."} {
		code, out := inShell(t, dir, line)
		found := shownReplay.FindStringSubmatch(out)
		if code != 1 || found == nil || !strings.Contains(out, "Write(2) had returned, and the next life read 1") {
			t.Fatalf("%s: status %d:\n%s", line, code, out)
		}
		replays = append(replays, found[1])
	}
	page, err := os.ReadFile(filepath.Join(pages, "register-recovery.html"))
	if err != nil || !bytes.Contains(page, []byte("Write(2) had returned, and the next life read 1")) || !bytes.Contains(page, []byte("client asked for “write 2” and gets “done”. Completed by then: Write #1 to host")) {
		t.Errorf("the page of the test: %v, %d bytes", err, len(page))
	}
	for _, line := range replays {
		if code, out := inShell(t, dir, line); code != 1 || !strings.Contains(out, "still fails") {
			t.Errorf("%s: status %d:\n%s", line, code, out)
		}
	}
	clitest.Write(t, name, string(good))
	for _, line := range replays {
		if code, out := inShell(t, dir, line); code != 0 {
			t.Errorf("%s of what is mended: status %d:\n%s", line, code, out)
		}
	}
}

// check --watch checks again once the source has changed, also when the change stops a build or a search, and in a folder
// that was entered through a link.
func TestNewModuleIsWatched(t *testing.T) {
	dir := newModule(t)
	name := filepath.Join(dir, "register", "register.go")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if code, out := inShell(t, dir, "go build -o own ."); code != 0 {
		t.Fatal(out)
	}
	c := exec.CommandContext(t.Context(), "./own", "check", "register", "--watch")
	c.Dir = filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, c.Dir); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("it ended before %q", want)
	}
	until("register/recovery: VERIFIED")
	clitest.Write(t, name, strings.Replace(string(good), " && c.Done == r.ids", "", 1))
	until("register/recovery: VIOLATED")
	clitest.Write(t, name, "no Go")
	until("the program cannot be built")
	clitest.Write(t, name, string(good))
	until("register/recovery: VERIFIED")
	until("waiting for a change")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the last check was good, and then Ctrl-C: %v", err)
	}
}

// What the checker could not repeat is found in the protocol, and not in the program.
func TestNewModuleIsVetted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs; go test ./... runs it")
	}
	dir := newModule(t)
	const clock = "package %s\n\nimport \"time\"\n\nfunc now() int64 { return time.Now().Unix() }\n"
	clitest.Write(t, filepath.Join(dir, "clock.go"), fmt.Sprintf(clock, "main"))
	clitest.Write(t, filepath.Join(dir, "register", "clock.go"), fmt.Sprintf(clock, "register"))
	code, out := inShell(t, dir, "go run . vet")
	if code != 1 || !strings.Contains(out, "register/clock.go:5:32: time.Now in example.com/lock/register: it reads the wall clock; use host.Host.Now") || strings.Count(out, "clock.go") != 1 {
		t.Errorf("status %d:\n%s", code, out)
	}
}

// A module that cannot be written is refused before any file is written, and the message names the remedy.
func TestNewIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	clitest.Write(t, "file", "")
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, x := range []clitest.Usage{
		{Args: "new", Code: 2, Stderr: "takes one folder"},
		{Args: "new .", Code: 2, Stderr: "is not empty: name a folder that is empty or does not exist"},
		{Args: "new file", Code: 2, Stderr: "not a directory"},
		{Args: "new x --module a//b", Code: 2, Stderr: "--module sets its path: go mod init a//b"},
		{Args: "new empty --module a//b", Code: 2, Stderr: "malformed module path"},
		{Args: "new x --replace empty", Code: 2, Stderr: "--replace empty: it has no go.mod of github.com/verbatim-rdma/verbatim"},
	} {
		line.Try(t, x)
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// A released program is required by its version; another one is replaced by its source tree, or asks for it.
func TestNewRequires(t *testing.T) {
	for _, x := range []struct {
		tree, version string
		want          requirement
		err           string
	}{
		{"/src", "(devel)", requirement{"v0.0.0", "/src"}, ""},
		{"/src", "v1.2.3", requirement{"v0.0.0", "/src"}, ""},
		{"", "v1.2.3", requirement{version: "v1.2.3"}, ""},
		{"", "v0.0.0-20260101000000-abcdef012345+dirty", requirement{}, "name one with --replace"},
		{"", "(devel)", requirement{}, "name one with --replace"},
	} {
		got, err := (&newFlags{}).required(x.tree, x.version)
		if got != x.want || (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%+v: %+v, %v", x, got, err)
		}
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (&newFlags{replace: "../.."}).required("", "v1.2.3"); err != nil || got.tree != root || builtFrom() != root {
		t.Errorf("%+v, %v; %s", got, err, builtFrom())
	}
}

// Under a go.work that does not name it, the go command builds no new module: the next steps say what to do.
func TestNewInAWorkspaceSaysHowToJoinIt(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []bool{false, true} {
		if want {
			clitest.Write(t, filepath.Join(dir, "go.work"), "go 1.26\n")
		}
		var out strings.Builder
		if err := nextSteps(&out, "example.com/lock", dir, inWorkspace(t.Context(), dir)); err != nil || strings.Contains(out.String(), "go work use .") != want {
			t.Errorf("a workspace: %v: %v: %s", want, err, &out)
		}
	}
}
