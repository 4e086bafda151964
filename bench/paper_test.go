package bench

import (
	"math"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/virtual"
)

// Every number that the paper has comes out within 15%, but for the one that
// docs/paper-numbers.md explains.
func TestPaper(t *testing.T) {
	figures, err := Paper(t.Context(), virtual.ConnectX4(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]float64{"a write of 128 bytes": 0.84}
	compared := 0
	for _, f := range figures {
		t.Logf("%s, %s: paper %.2f, ours %.2f %s", f.Of, f.What, f.Paper, f.Ours, f.Unit)
		if f.Ours <= 0 {
			t.Errorf("%s: ours is %v", f.What, f.Ours)
		}
		if f.Paper == 0 {
			continue
		}
		compared++
		want, within := 1.0, 0.15
		if k := known[f.What]; k != 0 {
			want, within = k, 0.01
		}
		if f.Input {
			within = 0.001
		}
		if math.Abs(f.Ratio()-want) > within {
			t.Errorf("%s, %s: ours %.2f is %.3f of the paper's; want %.2f, give or take %.3f", f.Of, f.What, f.Ours, f.Ratio(), want, within)
		}
	}
	if compared != 7 {
		t.Errorf("%d numbers were compared, and the paper has 7", compared)
	}
}

// The same model gives the same numbers.
func TestPaperTwice(t *testing.T) {
	var first []Figure
	for range 2 {
		f, err := figure8(virtual.ConnectX4())
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if f[i] != first[i] {
				t.Errorf("first %v, then %v", first[i], f[i])
			}
		}
		first = f
	}
}
