package model

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// hard is a history that takes porcupine exponentially long: overlapping appends of
// distinct data, and a read that no order explains.
func hard(t testing.TB, n int) *History {
	t.Helper()
	h := new(History)
	for i := range n {
		if _, err := h.Invoke(i, KVAppend{"hard", string(rune('a' + i))}, 0); err != nil {
			t.Fatal(err)
		}
	}
	read(t, h, "hard", KVValue{"?", true})
	return h
}

func read(t testing.TB, h *History, key string, out KVValue) {
	t.Helper()
	id, err := h.Invoke(99, KVGet{key}, 2)
	if err == nil {
		err = h.Return(id, out, 2)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestBudgetIsNeverAVerdict(t *testing.T) {
	tests := map[string]struct {
		budget Budget
		want   error
	}{
		"steps":               {Budget{Steps: 1000}, ErrStepBudget},
		"one step":            {Budget{Steps: 1}, ErrStepBudget},
		"bytes":               {Budget{Bytes: 10000}, ErrByteBudget},
		"less than one state": {Budget{Bytes: 1}, ErrByteBudget},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			first := Check(KV{}, hard(t, 20), tt.budget)
			if first.Verdict != Unknown || !errors.Is(first.Why, tt.want) {
				t.Errorf("got %v, want unknown: %v", first, tt.want)
			}
			again := Check(KV{}, hard(t, 20), tt.budget)
			if again.Steps != first.Steps || again.Bytes != first.Bytes {
				t.Errorf("spent %d steps and %d bytes, then %d and %d", first.Steps, first.Bytes, again.Steps, again.Bytes)
			}
		})
	}
}

func TestEverySmallerBudgetGivesTheVerdictOrUnknown(t *testing.T) {
	for name, tt := range specTests {
		h := sequential(t, tt.events)
		full := Check(tt.spec, h, Budget{})
		for steps := int64(1); steps <= full.Steps+1; steps++ {
			r := Check(tt.spec, h, Budget{Steps: steps})
			if r.Verdict != Unknown && r.Verdict != full.Verdict {
				t.Errorf("%s: %v with %d steps, but %v", name, r.Verdict, steps, full.Verdict)
			}
		}
	}
}

// A budget of what a check used suffices for it, and one byte less does not.
func TestWhatWasSpentIsEnough(t *testing.T) {
	for name, tt := range specTests {
		h := sequential(t, tt.events)
		if len(partition(tt.spec, h.Operations())) != 1 {
			continue // parts have shares
		}
		full := Check(tt.spec, h, Budget{})
		if r := Check(tt.spec, h, Budget{Steps: full.Steps, Bytes: full.Bytes}); r.Verdict != full.Verdict {
			t.Errorf("%s: %v, with as much %v", name, full, r)
		}
		if r := Check(tt.spec, h, Budget{Bytes: full.Bytes - 1}); full.Bytes > 1 && r.Verdict != Unknown {
			t.Errorf("%s: %v, with a byte less %v", name, full, r)
		}
	}
}

// An operation that returns before its call is invalid.
func TestNothingReturnsBeforeItsCall(t *testing.T) {
	op := porcupine.Operation{Input: RegisterWrite{1}, Output: Done{}, Call: 5, Return: 4}
	if r := CheckOperations(Register{}, []porcupine.Operation{op}, Budget{}); r.Verdict != Unknown || !errors.Is(r.Why, ErrBadOperation) {
		t.Errorf("got %v, want unknown: %v", r, ErrBadOperation)
	}
}

func TestFaultOfOneKeyShowsBesideAHardOne(t *testing.T) {
	h := hard(t, 20)
	read(t, h, "easy", KVValue{"?", true})
	r := Check(KV{}, h, Budget{Steps: 10000})
	if r.Verdict != Illegal || r.Why != nil || len(r.Failed) != 1 {
		t.Errorf("got %v with %d failed operations, want illegal with one", r, len(r.Failed))
	}
	h = hard(t, 20)
	read(t, h, "easy", KVValue{})
	if r := Check(KV{}, h, Budget{Steps: 10000}); r.Verdict != Unknown {
		t.Errorf("got %v, want unknown: the other key is fine", r)
	}
}

// slow is a register with a slow Step.
type slow struct {
	Register
	release chan struct{}
}

func (s slow) Step(state, in, out any) (bool, any) {
	<-s.release
	return s.Register.Step(state, in, out)
}

func TestWallTimeEndsASlowStep(t *testing.T) {
	spec := slow{release: make(chan struct{})}
	defer close(spec.release)
	h := sequential(t, []event{{RegisterWrite{1}, Done{}}})
	r := Check(spec, h, Budget{Wall: time.Millisecond})
	if r.Verdict != Unknown || !errors.Is(r.Why, ErrWallBudget) {
		t.Errorf("got %v, want unknown: %v", r, ErrWallBudget)
	}
}

// broken is a register that panics in one of its methods.
type broken struct {
	Register
	in string
}

func (b broken) Step(state, in, out any) (bool, any) {
	if b.in == "step" {
		panic("oops")
	}
	return b.Register.Step(state, in, out)
}

func (b broken) Hash(state any) uint64 {
	if b.in == "hash" {
		panic("oops")
	}
	return 0
}

func (b broken) Init() any {
	if b.in == "init" {
		panic("oops")
	}
	return b.Register.Init()
}

func TestPanickingSpecIsUnknown(t *testing.T) {
	for _, in := range []string{"step", "hash", "init"} {
		r := Check(broken{in: in}, sequential(t, []event{{RegisterWrite{1}, Done{}}}), Budget{})
		if r.Verdict != Unknown || !errors.Is(r.Why, ErrSpecPanicked) {
			t.Errorf("%s: got %v, want unknown: %v", in, r, ErrSpecPanicked)
		}
	}
}

func TestEmptyHistoryIsOk(t *testing.T) {
	for _, h := range []*History{nil, {}} {
		if r := Check(KV{}, h, Budget{}); r.Verdict != Ok {
			t.Errorf("got %v", r)
		}
	}
}

func TestReadsWithoutReplyCostNothing(t *testing.T) {
	h := new(History)
	for i := range 100 {
		must(h.Invoke(i, RegisterRead{}, 0))(t)
	}
	if r := Check(Register{}, h, Budget{}); r.Verdict != Ok || r.Steps != 0 {
		t.Errorf("got %v, want ok without a step", r)
	}
}

func TestSameStepKeepsRecordedOrder(t *testing.T) {
	h := new(History)
	w := must(h.Invoke(0, RegisterWrite{1}, 3))(t)
	check(t, h.Return(w, Done{}, 3))
	r := must(h.Invoke(0, RegisterRead{}, 3))(t)
	check(t, h.Return(r, RegisterValue{0}, 3))
	if got := Check(Register{}, h, Budget{}); got.Verdict != Illegal {
		t.Errorf("a client misses its own write of the same step: got %v", got)
	}
}

func TestExplainIsTheSameEachTime(t *testing.T) {
	h := new(History)
	a := must(h.Invoke(0, RegisterWrite{1}, 0))(t)
	b := must(h.Invoke(1, RegisterWrite{2}, 1))(t)
	check(t, h.Return(a, Done{}, 2))
	check(t, h.Return(b, Done{}, 3))
	c := must(h.Invoke(0, RegisterRead{}, 4))(t)
	check(t, h.Return(c, RegisterValue{3}, 5))
	r := Check(Register{}, h, Budget{})
	want := Explain(Register{}, r, Budget{})
	for range 20 {
		if got := Explain(Register{}, r, Budget{}); got != want {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
	}
	if !strings.Contains(want, "client 0 [4, 5] read() -> 3") {
		t.Errorf("does not name the read:\n%s", want)
	}
}
