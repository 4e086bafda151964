package coverage

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/cover"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

const text = `package p

func f(x int) int {
	if x > 0 {
		x++
		// why

		x++
	} else if x < 0 {
		return g()
	}
	return x
}
`

const name = source.Module + "/protocol/p/p.go"

// blocks are the blocks of text, as Go writes them; counts are by block.
func blocks(counts ...int) *cover.Profile {
	p := &cover.Profile{FileName: name, Mode: "atomic"}
	at := [][5]int{{3, 19, 4, 11, 1}, {4, 11, 9, 3, 2}, {9, 8, 9, 18, 1}, {9, 18, 11, 3, 1}, {12, 2, 12, 10, 1}}
	for i, b := range at {
		p.Blocks = append(p.Blocks, cover.ProfileBlock{StartLine: b[0], StartCol: b[1], EndLine: b[2], EndCol: b[3], NumStmt: b[4], Count: counts[i]})
	}
	return p
}

func read(string) ([]byte, error) { return []byte(text), nil }

func TestLines(t *testing.T) {
	p := newProfile([]*cover.Profile{blocks(1, 0, 1, 1, 1), {FileName: source.Module + "/cmd/verbatim/main.go"}})
	files := p.Files(read)
	if len(files) != 1 || files[0].Name != "protocol/p/p.go" || files[0].Statements != 6 || files[0].Reached != 4 {
		t.Fatalf("%+v", files)
	}
	want := []State{Nothing, Nothing, Nothing, Reached, Never, Nothing, Nothing, Never, Reached, Reached, Nothing, Reached, Nothing}
	if d := cmp.Diff(want, files[0].States); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Range{{5, 8}}, files[0].Never()); d != "" {
		t.Error(d)
	}
}

// What one search reached and another did not is reached by both together.
func TestUnion(t *testing.T) {
	a, b := newProfile([]*cover.Profile{blocks(1, 1, 0, 0, 1)}), newProfile([]*cover.Profile{blocks(1, 0, 1, 0, 0)})
	f := Union([]*Profile{a, b}).Files(read)[0]
	if f.Reached != 5 || f.Statements != 6 {
		t.Errorf("%d of %d", f.Reached, f.Statements)
	}
	if d := cmp.Diff([]Range{{10, 10}}, f.Never()); d != "" {
		t.Error(d)
	}
	if got := a.Files(read)[0].Reached; got != 4 {
		t.Errorf("the union changed what it is made of: %d", got)
	}
}

func TestWithoutSource(t *testing.T) {
	f := newProfile([]*cover.Profile{blocks(1, 0, 0, 0, 0)}).Files(func(string) ([]byte, error) { return nil, os.ErrNotExist })[0]
	if f.Lines != nil || f.Never() != nil || f.Reached != 1 {
		t.Errorf("%+v", f)
	}
	if err := Build(t.Context(), t.TempDir(), "./cmd/verbatim", []string{"protocol/ncl"}, "x"); !errors.Is(err, ErrSource) {
		t.Errorf("no source tree: %v", err)
	}
	if err := Build(t.Context(), "", "./cmd/verbatim", []string{"nothing"}, "x"); !errors.Is(err, ErrSource) {
		t.Errorf("no such protocol: %v", err)
	}
}

func TestProtocolPackages(t *testing.T) {
	root, err := source.Running().Root("")
	if err != nil {
		t.Fatal(err)
	}
	got, err := protocolPackages(t.Context(), root, []string{"protocol/ncl"})
	if err != nil || len(got) == 0 || got[0] != source.Module+"/protocol/ncl" {
		t.Errorf("%v %v", got, err)
	}
	for _, p := range got {
		if strings.HasSuffix(p, "check") {
			t.Errorf("%s is a package of scenarios", p)
		}
	}
}

// A program that counts nothing says so.
func TestNone(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("this program counts: run without -cover")
	}
	if err := Clear(); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := Collect(t.Context()); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
