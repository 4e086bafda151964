package generate

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// counts are the numbers of programs up to each size.
var counts = map[int]int{1: 0, 2: 35, 3: 328, 4: 5753}

func TestCounts(t *testing.T) {
	for size := 1; size <= 4; size++ {
		list := All(size)
		if len(list) != counts[size] {
			t.Errorf("size %d: %d programs, want %d: if that is meant, change docs/generator.md too", size, len(list), counts[size])
		}
		if row := fmt.Sprintf("\n| %d | %s |", size, number.Commas(len(list))); size > 1 && !strings.Contains(page(t), row) {
			t.Errorf("docs/generator.md has no row that begins with %s", row)
		}
		for i, p := range list {
			if p.Size() > size || i > 0 && p.Size() < list[i-1].Size() {
				t.Errorf("%s, of size %d, is out of its place up to size %d", p, p.Size(), size)
			}
		}
	}
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/generator.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The numbers on the page are those of the search, up to a size that is quick.
func TestNumbersOfThePage(t *testing.T) {
	for size := 2; size <= 3 && !(testing.Short() && size == 3); size++ { // slow under the race detector
		programs, separate, states, runs := All(size), 0, 0, 0
		seq, err := Judge(programs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for v := range seq {
			states += len(v.States)
			runs += int(v.Runs)
			if v.Separates() {
				separate++
			}
		}
		row := "| " + strconv.Itoa(size)
		for _, n := range []int{len(programs), separate, states, runs} {
			row += " | " + number.Commas(n)
		}
		if !strings.Contains(page(t), "\n"+row+" |") {
			t.Errorf("docs/generator.md has no row\n%s", row)
		}
	}
}

// Names and files survive a round trip.
func TestNames(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector; go test ./... runs it")
	}
	for _, p := range All(4) {
		q, err := Parse(p.String())
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if d := cmp.Diff(p, q); d != "" {
			t.Fatalf("%s is read back as another program (-want +got):\n%s", p, d)
		}
	}
}

func TestBadNames(t *testing.T) {
	for name, want := range map[string]error{
		"":                       ErrName,
		"D-wx":                   ErrName,
		"A-wx_A-wx":              ErrName,
		"A-wz":                   ErrName,
		"A-wxwf":                 ErrName,
		"A-q":                    ErrName,
		"A-wx-":                  ErrName,
		"A-t_B-h":                ErrName,
		"A-wx":                   ErrProgram, // no other statement touches x
		"A-rx-rx":                ErrProgram, // nothing changes x
		"A-wxf-rx":               ErrProgram, // a fence of nothing
		"A-wx-rxw":               ErrProgram, // a wait before nothing
		"A-lx-wx":                ErrProgram, // a verb's thread has no loads
		"B-sx-lx":                ErrProgram, // no verb
		"A-wx-wx_C-wy-wy":        ErrProgram, // side by side
		"A-wx-tB_B-h-lx":         ErrProgram, // told before anything completed
		"A-wxw-tB_B-lx-h":        ErrProgram, // heard in vain
		"A-wxw-tB-tB_B-h-lx":     ErrProgram,
		"A-wxw-tC_B-h-lx":        ErrProgram,
		"A-wx_B-lxf":             ErrProgram,
		"A-wx_B-sx-ix-lxf":       ErrProgram,
		"A-wx-rx_B-sx2":          ErrProgram,
		"A-wxw-tB_B-h-lx_C-wy-h": ErrProgram,
	} {
		if _, err := Parse(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	for _, name := range []string{"A-wxw-tB_B-h-lx", "A-wx-rx2f", "A-wx-rxf_C-tA"} {
		if _, err := Parse(name); name == "A-wxw-tB_B-h-lx" && err != nil || name != "A-wxw-tB_B-h-lx" && err == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// renamings lists a program's renamings independently: it exchanges letters in names.
func renamings(p *Program) map[string]bool {
	out := map[string]bool{}
	for i := range 16 {
		q := &Program{}
		for t, body := range p.Threads {
			to := t
			if i&1 != 0 && t != B {
				to = A + C - t
			}
			for _, s := range body {
				if i&2 != 0 && s.Kind != Tell && s.Kind != Hear {
					s.Loc ^= 1
				}
				if i&1 != 0 && s.Kind == Tell && s.To != B {
					s.To = A + C - s.To
				}
				// The queue pairs of the threads are renamed independently.
				if s.Kind <= FetchAdd && i>>(2+min(t, 1))&1 != 0 {
					s.QP ^= 1
				}
				q.Threads[to] = append(q.Threads[to], s)
			}
		}
		out[q.String()] = true
	}
	return out
}

// No two programs are equal up to renaming, and each valid program is one of them up to
// renaming.
func TestCanonical(t *testing.T) {
	const size = 3
	covered := map[string]string{}
	for _, p := range All(size) {
		for name := range renamings(p) {
			if other := covered[name]; other != "" {
				t.Errorf("%s and %s are renamings of each other", p, other)
			}
			covered[name] = p.String()
		}
	}
	seen := 0
	raw(size, false, func(p *Program) {
		if p.Validate() != nil {
			return
		}
		seen++
		if covered[p.String()] == "" {
			t.Errorf("%s is a renaming of no program of the list", p)
		}
		if c := p.Canonical().String(); c != covered[p.String()] {
			t.Errorf("%s: canonical form %s, and the list has %s", p, c, covered[p.String()])
		}
	})
	if seen != len(covered) {
		t.Errorf("%d raw programs, and %d renamings of those in the list", seen, len(covered))
	}
}

// Files of programs survive a round trip, and pass.
func TestFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector; go test ./... runs it")
	}
	seq, err := Judge(All(2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for v := range seq {
		test, err := v.Test()
		if err != nil {
			t.Fatal(err)
		}
		text := lang.Format(test)
		back, err := litmus.Parse(test.Name, []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again := lang.Format(back); again != text {
			t.Errorf("written and read and written again (-want +got):\n%s", cmp.Diff(text, again))
		}
		for _, profile := range litmus.Profiles(back) {
			r, err := litmus.Run(back, profile, litmus.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Rows {
				if !r.Rows[i].OK() {
					t.Errorf("%s: %s: expected %s, got %s\n%s", profile, r.Rows[i].Cond, r.Rows[i].Expected, r.Rows[i].Got, text)
				}
			}
		}
	}
}

// The order of the results does not depend on which is ready first, and a loop can stop
// early.
func TestInOrder(t *testing.T) {
	next := 0
	inOrder(1000, 4, func(i int) int { return i }, func(i int) bool {
		if i != next {
			t.Errorf("got %d, want %d", i, next)
		}
		next++
		return next < 700
	})
	if next != 700 {
		t.Errorf("%d results, want 700", next)
	}
}
