package mutant

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// tiny is a protocol with one mutant for each way of being caught.
const tiny = `package tiny

import "time"

func Add(a, b int) int { return a + b }

func Sum(n int) int {
	total := 0
	for n > 0 {
		total += n
		n--
		time.Sleep(time.Microsecond) // one that hangs takes no core
	}
	return total
}

func Tested(a int) bool { return a > 2 }

func Unused() error { return nil }

func Limited(n int) int { return n + 0 }

func Slow(n int) int { return n + 0 }

var list []int

func Grow(n int) int {
	for i := 0; i < n; i++ {
		list = append(list, i)
	}
	return len(list)
}
`

const tinyTest = `package tiny

import "testing"

func TestTested(t *testing.T) {
	for a, want := range map[int]bool{2: false, 3: true, 4: true} {
		if Tested(a) != want {
			t.Errorf("%d", a)
		}
	}
}
`

// tinyMain stands in for the command verbatim: a scenario is violated if a sum is wrong.
const tinyMain = `package main

import (
	"fmt"
	"os"

	"github.com/verbatim-rdma/verbatim/protocol/tiny"
)

func main() {
	if os.Args[1] == "list" {
		fmt.Print("{\"name\": \"tiny/add\"}\n{\"name\": \"tiny/sum\"}\n{\"name\": \"tiny/deep\", \"deep\": true}\n")
		return
	}
	good := tiny.Add(1, 2) == 3
	if os.Args[2] == "tiny/sum" {
		good = tiny.Sum(3) == 6
	}
	verdict, file := "verified", "null"
	if tiny.Limited(100) != 100 {
		verdict, file = "unknown", "\"x.json\""
		os.WriteFile(os.Args[5]+"/x.json", []byte("{\"version\": 1, \"scenario\": \"s\", \"class\": \"step-limit\", \"decisions\": []}"), 0o644)
	}
	exhausted := good
	if tiny.Slow(100) != 100 {
		verdict, exhausted = "ran-out", false
	}
	if !good {
		verdict, file = "violated", "\"x.json\""
		os.WriteFile(os.Args[5]+"/x.json", []byte("{\"version\": 1, \"scenario\": \"s\", \"class\": \"c\", \"decisions\": []}"), 0o644)
	}
	fmt.Printf("{\"scenario\": %q, \"strategy\": \"s\", \"verdict\": %q, \"exhausted\": %v, \"runs\": 1, \"reason\": \"why\", \"counterexample\": %s}\n", os.Args[2], verdict, exhausted, file)
	if !good {
		os.Exit(1)
	}
}
`

func newTiny(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	tinyIn(t, root)
	return root
}

func tinyIn(t *testing.T, root string) {
	t.Helper()
	write(t, root, "go.mod", "module "+source.Module+"\n\ngo 1.26\n")
	write(t, root, "cmd/verbatim/main.go", tinyMain)
	write(t, root, "protocol/tiny/tiny.go", tiny)
	write(t, root, "protocol/tiny/tiny_test.go", tinyTest)
}

func tinyScore(root string) ScoreOptions {
	return ScoreOptions{Generate: generate.Generate, Protocol: "tiny", Folders: []string{"protocol/tiny"}, Dir: root, RandomRuns: 100, SearchRuns: 100, MaxTime: time.Second,
		limit: time.Second}
}

// built is tiny with its mutants in it, which is built once for all tests.
var built struct {
	once sync.Once
	root string
	*judge
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.root)
	os.Exit(code)
}

// judged is what becomes of mutants of tiny.
func judged(t *testing.T, opt ScoreOptions) ([]Judged, error) {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "verbatim-tiny-")
		if err != nil {
			t.Fatal(err)
		}
		built.root = dir
		tinyIn(t, dir)
		write(t, dir, "testdata/mutants/tiny/equivalent", "# a comment\n\ntiny.Tested:negate:1  nobody minds\n")
		j, err := newJudge(context.Background(), tinyScore(dir))
		if err == nil {
			j.tmp = dir
			err = j.build()
		}
		if err != nil {
			t.Fatal(err)
		}
		built.judge = j
	})
	if built.judge == nil {
		t.Fatal("tiny was not built")
	}
	opt.Dir = built.root
	j, err := newJudge(t.Context(), opt)
	if err != nil {
		return nil, err
	}
	j.tmp, j.program, j.tests = t.TempDir(), built.program, slices.Clone(built.tests)
	return j.run()
}

func scored(t *testing.T, opt ScoreOptions) map[string]Judged {
	t.Helper()
	all, err := judged(t, opt)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Judged{}
	for _, x := range all {
		out[x.ID] = x
	}
	return out
}
