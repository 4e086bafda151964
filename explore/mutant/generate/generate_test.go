package generate

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests find to the files in testdata")

const every = "explore/mutant/generate/testdata/every"

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func generated(t testing.TB, dirs ...string) *schema.Set {
	t.Helper()
	set, err := Generate(t.Context(), root(t), dirs)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// overlay writes the files of a set, and is the flag for the go command that puts them into
// the tree.
func overlay(t testing.TB, set *schema.Set) string {
	t.Helper()
	dir := t.TempDir()
	var pairs []string
	for i, name := range slices.Sorted(maps.Keys(set.Files)) {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		write(t, to, set.Files[name])
		pairs = append(pairs, fmt.Sprintf("%q: %q", filepath.Join(root(t), name), to))
	}
	write(t, filepath.Join(dir, "overlay.json"), []byte(`{"Replace": {`+strings.Join(pairs, ", ")+`}}`))
	return "-overlay=" + filepath.Join(dir, "overlay.json")
}

func write(t testing.TB, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func goTool(t testing.TB, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = root(t)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// run is what a program prints and how it ends with a mutant on. One that does not end is
// killed after a second of its own, however busy the machine is.
func run(t testing.TB, program, mutant string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -t 1; exec "$0"`, program)
	c.Env = append(os.Environ(), schema.Selects+"="+mutant, schema.Memory+"=50000000")
	out, err := c.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return string(out)
	case !errors.As(err, &exit):
		t.Fatal(err)
	case exit.ExitCode() < 0: // by a signal
		return "it does not end"
	}
	return fmt.Sprintf("%s%v", out, err)
}

// example is the example of every operator, built with all mutants in one program. The tests
// that run it share it.
var example struct {
	once    sync.Once
	dir     string
	set     *schema.Set
	program string
}

func builtExample(t testing.TB) (*schema.Set, string) {
	t.Helper()
	x := &example
	x.once.Do(func() {
		var err error
		if x.dir, err = os.MkdirTemp("", "verbatim-generate-"); err != nil {
			t.Fatal(err)
		}
		x.set = generated(t, every)
		program := filepath.Join(x.dir, "mutants")
		goTool(t, "build", overlay(t, x.set), "-o", program, "./"+every)
		x.program = program
	})
	if x.program == "" {
		t.Fatal("the example was not built")
	}
	return x.set, x.program
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(example.dir)
	os.Exit(code)
}

// Every operator has a mutant in the example; all are in one program, which without one does
// what the source does; and each of them does something else.
func TestEvery(t *testing.T) {
	t.Parallel()
	set, program := builtExample(t)
	source := filepath.Join(t.TempDir(), "source")
	goTool(t, "build", "-o", source, "./"+every)
	want := run(t, source, "")
	if d := cmp.Diff(want, run(t, program, "")); d != "" {
		t.Fatalf("without a mutant: %s", d)
	}
	var lines strings.Builder
	seen := map[schema.Operator]bool{}
	for _, m := range set.Mutants {
		seen[m.Operator] = true
		does := "no difference"
		switch got := run(t, program, fmt.Sprint(m.Number)); {
		case got == "it does not end":
			does = "does not end"
		case strings.Contains(got, fmt.Sprintf("exit status %d", schema.TooMuch)):
			does = "takes too much memory"
		case strings.Contains(got, "exit status 2"):
			does = "panics"
		case got != want:
			does = "differs"
		}
		fmt.Fprintf(&lines, "%d %s: %s -> %s: %s\n", m.Line, m.ID, m.Before, m.After, does)
	}
	for _, op := range schema.Operators {
		if !seen[op.Name] {
			t.Errorf("no mutant of operator %s", op.Name)
		}
	}
	golden := filepath.Join("testdata", "every", "mutants.golden")
	if *rewrite {
		write(t, golden, []byte(lines.String()))
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), lines.String()); d != "" {
		t.Error(d)
	}
}

// Of several packages, a program with any one of them looks after its memory.
func TestMemoryOfEach(t *testing.T) {
	t.Parallel()
	set := generated(t, "codec/wire", every)
	program := filepath.Join(t.TempDir(), "mutants")
	goTool(t, "build", overlay(t, set), "-o", program, "./"+every)
	x := set.Find("main.grow:constant:3")
	if x == nil {
		t.Fatal("there is no such mutant")
	}
	if got := run(t, program, fmt.Sprint(x.Number)); !strings.Contains(got, fmt.Sprintf("exit status %d", schema.TooMuch)) {
		t.Errorf("%s: %s", x.ID, got)
	}
}

// A program notes the places that it comes to, each once.
func TestNotes(t *testing.T) {
	t.Parallel()
	set, program := builtExample(t)
	notes := filepath.Join(t.TempDir(), "notes")
	c := exec.CommandContext(t.Context(), program)
	c.Env = append(os.Environ(), schema.Notes+"="+notes)
	_ = c.Run() // its status is not 0 by itself
	text, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(text))
	slices.Sort(got)
	if len(got) < len(set.Mutants)*8/10 || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("%d of %d mutants, %d of them once", len(got), len(set.Mutants), len(slices.Compact(got)))
	}
}

// The protocol and its kit have the mutants that a score is made of, and their unit tests pass with
// them in the program and none on.
func TestNCL(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests a protocol")
	}
	t.Parallel()
	kit := []string{"kit/entry", "kit/lend", "kit/quorum"}
	set, err := Generate(t.Context(), root(t), []string{"protocol/ncl"}, kit...)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Mutants) < 2000 {
		t.Errorf("%d mutants", len(set.Mutants))
	}
	ids := map[string]bool{}
	for _, m := range set.Mutants {
		if ids[m.ID] {
			t.Errorf("two mutants are called %s", m.ID)
		}
		ids[m.ID] = true
	}
	args := []string{"test", "-vet=off", overlay(t, set), "./protocol/ncl"}
	for _, f := range kit {
		args = append(args, "./"+f)
	}
	goTool(t, args...)
}

// A mutant keeps its name when another function is edited.
func TestNamesStay(t *testing.T) {
	t.Parallel()
	set, _ := builtExample(t)
	x := set.Find("main.card.wait:stale:1")
	if x == nil || set.Find("main.nothing:stale:1") != nil {
		t.Fatalf("%+v", x)
	}
	for _, m := range set.Mutants {
		if !strings.HasPrefix(m.ID, m.Function+":"+string(m.Operator)+":") || m.Line == 0 || m.Before == "" {
			t.Errorf("%+v", m)
		}
	}
	again := generated(t, every)
	if d := cmp.Diff(set.Mutants, again.Mutants); d != "" {
		t.Error(d)
	}
}

func TestBadSource(t *testing.T) {
	t.Parallel()
	if _, err := Generate(t.Context(), root(t), []string{"explore/mutant/generate/testdata/none"}); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
}

// docs/mutants.md has the list of operators.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/mutants.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| operator | the mutant |\n|---|---|\n"
	for _, op := range schema.Operators {
		table += fmt.Sprintf("| `%s` | %s |\n", op.Name, op.Does)
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/mutants.md does not have this table:\n%s", table)
	}
}
