package bench

import (
	"math"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/virtual"
)

// Every number of the paper is reproduced within 15%.
func TestPaper(t *testing.T) {
	figures, err := Paper(t.Context(), virtual.ConnectX4(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
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
		within := 0.15
		if f.Input {
			within = 0.001
		}
		if math.Abs(f.Ratio()-1) > within {
			t.Errorf("%s, %s: ours %.2f is %.3f of the paper's; want 1, give or take %.3f", f.Of, f.What, f.Ours, f.Ratio(), within)
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

// The overhead of the paper's library explains the whole difference.
func TestLibrary(t *testing.T) {
	m := virtual.ConnectX4()
	with, err := writing(m, smallIO)
	if err != nil {
		t.Fatal(err)
	}
	for name, without := range map[string]func(*virtual.Model){
		"calls":       func(m *virtual.Model) { m.WriteCall = 0 },
		"tokens":      func(m *virtual.Model) { m.Issue = 0 },
		"settling":    func(m *virtual.Model) { m.Settle = 0 },
		"completions": func(m *virtual.Model) { m.SignalAll = false },
	} {
		less := m
		without(&less)
		if d, err := writing(less, smallIO); err != nil || d >= with {
			t.Errorf("without its %s a write takes %v, and %v with (%v)", name, d, with, err)
		}
	}
	if bare, nominal := m.Bare(), m.At(virtual.NominalClock); bare.Issue != 0 || nominal.Issue <= m.Issue {
		t.Errorf("tokens: %v bare, %v at the nominal clock, %v at the turbo", bare.Issue, nominal.Issue, m.Issue)
	}
}
