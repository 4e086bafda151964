package mutant

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

const sums = `package main

import "fmt"

type sum struct{ n int }

func (s *sum) add(_ string, xs ...int) (n int) {
	for _, x := range xs {
		s.n += x
	}
	return s.n
}

func (sum) name() string { return "sum" }

func say(any) { fmt.Println("nothing") }

func pair() (a, b int) { return 1, 2 }

func (s *sum) get() (r int) { r = s.n; return }

func first[T any](xs []T) T { return xs[0] }

func safe() (err any) { defer func() { err = recover() }(); panic(1) }

var zero = 0

func main() {
	s := &sum{zero}
	fmt.Println(s.add("", 1, 2), s.name(), first([]int{7, 8}), safe())
	fmt.Println(pair())
	say(s.get())
}
`

// mutantOf is a mutant of sums that changes lines.
func mutantOf(t *testing.T, name string, lines ...string) *Mutant {
	t.Helper()
	text := "Title: t\nBreaks: b\nPaper: 1\n\ndiff --git a/main.go b/main.go\n--- a/main.go\n+++ b/main.go\n"
	for i := 0; i < len(lines); i += 2 {
		text += fmt.Sprintf("@@ -%d,1 +%d,%d @@\n-%s\n", i+1, i+1, strings.Count(lines[i+1], "\n")+1, lines[i])
		for line := range strings.Lines(lines[i+1] + "\n") {
			text += "+" + line
		}
	}
	m, err := parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// One build holds mutants of one function and of several, with parameters that have no
// names, any number of arguments, several results or none, and imports of their own.
func TestMutantsAreBuiltTogether(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "go.mod", "module sums\n\ngo 1.26\n")
	write(t, root, "main.go", sums)
	todo := []*Mutant{
		mutantOf(t, "less", "		s.n += x", "		s.n -= x"),
		mutantOf(t, "named", `func (sum) name() string { return "sum" }`, `func (s sum) name() string { return "mus" }`),
		mutantOf(t, "swapped", "func pair() (a, b int) { return 1, 2 }", "func pair() (a, b int) { a, b = 2, 1; return }"),
		mutantOf(t, "loud", `import "fmt"`, "import (\n\t\"fmt\"\n\t\"strings\"\n)", `func say(any) { fmt.Println("nothing") }`, `func say(x any) { fmt.Println(strings.Repeat("loud", x.(int))) }`,
			"func (s *sum) get() (r int) { r = s.n; return }", "func (s *sum) get() (r int) { r = 1; return }"),
		mutantOf(t, "twice", "		s.n += x", "		s.n += 2 * x", "func pair() (a, b int) { return 1, 2 }", "func pair() (a, b int) { return 3, 3 }"),
		mutantOf(t, "a variable", "var zero = 0", "var zero = 5"),
		mutantOf(t, "a generic function", "func first[T any](xs []T) T { return xs[0] }", "func first[T any](xs []T) T { return xs[1] }"),
		mutantOf(t, "what recovers", "func safe() (err any) { defer func() { err = recover() }(); panic(1) }", "func safe() (err any) { defer func() { err = recover() }(); panic(2) }"),
		mutantOf(t, "stale", "func gone() {}", "func gone() { }"),
	}
	all := merge(root, todo)
	want := map[int]string{0: "3 sum 7 1\n1 2\nnothing\n", 1: "-3 sum 7 1\n1 2\nnothing\n", 2: "3 mus 7 1\n1 2\nnothing\n", 3: "3 sum 7 1\n2 1\nnothing\n",
		4: "3 sum 7 1\n1 2\nloud\n", 5: "6 sum 7 1\n3 3\nnothing\n"}
	if d := cmp.Diff(map[string]int{"less": 1, "named": 2, "swapped": 3, "loud": 4, "twice": 5}, all.number); d != "" {
		t.Fatalf("which are built together (-want +got):\n%s", d)
	}
	program := filepath.Join(t.TempDir(), "sums")
	if err := goCommand(t.Context(), root, t.TempDir(), all.files, "build", "-o", program, "."); err != nil {
		t.Fatal(err)
	}
	for n, out := range want { //lint:ordered each is compared
		c := exec.CommandContext(t.Context(), program)
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", schema.Selects, n))
		if got, err := c.Output(); err != nil || string(got) != out {
			t.Errorf("mutant %d: %v: %q, want %q", n, err, got, out)
		}
	}
}

// What is built together is the change of every mutant: of one that changes anything else than
// functions with names of their own, a part would be lost, and it would seem to survive.
func TestNoChangeIsLostTogether(t *testing.T) {
	t.Parallel()
	const file = `//go:build !never

package main

import "fmt"
import _ "embed"

var log []string

func init() { log = append(log, "first") }

func init() { log = append(log, "second") }

//go:noinline
func say() { fmt.Println(log) }

func main() { say() }
`
	x, err := parseTree([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string][2]string{
		"the first of two functions init": {`"first"`, `"1st"`},
		"the last of two functions init":  {`"second"`, `"2nd"`},
		"a build constraint":              {"!never", "never"},
		"a directive":                     {"//go:noinline\n", ""},
		"an import for its effects":       {"import _ \"embed\"\n", ""},
		"another import":                  {`"fmt"`, `fmt "strings"`},
		"main":                            {"main() { say() }", "main() {}"},
		"nothing":                         {"say", "say"},
	}
	for name, c := range changes { //lint:ordered each is compared
		if names, err := x.changes([]byte(strings.Replace(file, c[0], c[1], 1))); err == nil {
			t.Errorf("%s: the functions %q are all that changes", name, names)
		}
	}
	if names, err := x.changes([]byte(strings.Replace(file, "fmt.Println(log)", "fmt.Println()", 1))); err != nil || len(names) != 1 {
		t.Errorf("a function: %q, %v", names, err)
	}
}

// The tests of a package run all functions that have the names of tests, so that versions of
// one cannot stand beside each other.
func TestMutantsOfTestsAreBuiltAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "main.go", sums)
	write(t, root, "main_test.go", "package main\n\nfunc TestX() {}\n")
	m, err := parse("test", []byte("Title: t\nBreaks: b\nPaper: 1\n\ndiff --git a/main_test.go b/main_test.go\n--- a/main_test.go\n+++ b/main_test.go\n@@ -3,1 +3,1 @@\n-func TestX() {}\n+func TestX() { panic(1) }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if all := merge(root, []*Mutant{m}); len(all.number) > 0 {
		t.Errorf("%v", all.files)
	}
}

// It makes no difference to the results how mutants are built.
func TestMutantsThatAreBuiltTogetherHaveTheSameResults(t *testing.T) {
	t.Parallel()
	root := newDemo(t, demo)
	alone, err := Run(t.Context(), Options{Protocol: "demo", Dir: root, Out: t.TempDir()}) // pages are of one mutant
	if err != nil {
		t.Fatal(err)
	}
	together, err := Run(t.Context(), Options{Protocol: "demo", Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	same := []cmp.Option{cmpopts.IgnoreFields(Result{}, "Seconds", "File", "Page", "Err"), cmpopts.IgnoreUnexported(Result{}, Search{}), cmpopts.EquateEmpty()}
	if d := cmp.Diff(alone, together, same...); d != "" {
		t.Errorf("(-alone +together)\n%s", d)
	}
	for i := range alone {
		if (alone[i].Err == nil) != (together[i].Err == nil) {
			t.Errorf("%s: %v, and together %v", alone[i].Name, alone[i].Err, together[i].Err)
		}
	}
}

// If they did not, hundreds of builds would take the place of one.
func TestMutantsOfTheCheckerBuildTogether(t *testing.T) {
	t.Parallel()
	r, todo, err := prepare(t.Context(), Options{Protocol: Explore})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if have := len(r.all.number); have < len(todo)*9/10 {
		t.Errorf("only %d of %d can be built together", have, len(todo))
	}
	if _, err := r.withAll("build", yardstick); err != nil {
		t.Error(err)
	}
}
