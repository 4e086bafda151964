package model

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// Reasons for an Unknown verdict, besides [ErrBadOperation].
var (
	// ErrStepBudget: the search exceeded Budget.Steps steps.
	ErrStepBudget = errors.New("model: step budget spent")
	// ErrByteBudget: the search exceeded Budget.Bytes bytes of states.
	ErrByteBudget = errors.New("model: byte budget spent")
	// ErrWallBudget: the search exceeded Budget.Wall.
	ErrWallBudget = errors.New("model: wall time budget spent")
	// ErrSpecPanicked: a method of the specification panicked.
	ErrSpecPanicked = errors.New("model: specification panicked")
)

// Verdict is the answer of [Check]. The zero value is Unknown.
type Verdict uint8

// The three verdicts.
const (
	// Unknown: the budget was exhausted, or the history is invalid for the spec.
	Unknown Verdict = iota
	// Ok: the specification accepts some order of the operations.
	Ok
	// Illegal: all orders were tried, and the specification accepts none.
	Illegal
)

func (v Verdict) String() string {
	switch v {
	case Ok:
		return "ok"
	case Illegal:
		return "illegal"
	default:
		return "unknown"
	}
}

// Budget limits one [Check]. Zero fields take the defaults. Steps and Bytes are
// deterministic; Wall is not, and is therefore off by default.
type Budget struct {
	// Steps is how often the specification's Step may be called.
	Steps int64
	// Bytes is the total size of the states that the steps read and make. The search
	// keeps every state it makes, so this bounds its memory; a step's time grows with
	// its state, so this bounds time as well.
	Bytes int64
	// Wall is a limit in real time, 0 for none. A running step is not interrupted;
	// Check returns without waiting for it.
	Wall time.Duration
}

// The budget of a zero [Budget].
const (
	DefaultSteps = 1 << 20
	DefaultBytes = 512 << 20
)

// Result is the result of [Check].
type Result struct {
	Verdict Verdict
	// Why is the reason for the verdict Unknown, otherwise nil.
	Why error
	// Steps and Bytes were used; repeating the check uses the same.
	Steps, Bytes int64
	// Failed is, for the verdict Illegal, the part of the history that no order
	// explains: all operations, or those of one key.
	Failed []porcupine.Operation
}

func (r Result) String() string {
	if r.Why != nil {
		return fmt.Sprintf("%v after %d steps: %v", r.Verdict, r.Steps, r.Why)
	}
	return fmt.Sprintf("%v after %d steps", r.Verdict, r.Steps)
}

// Check decides whether the history is linearizable with respect to the specification.
// A history that splits by key is searched part by part, each with an equal share of
// the remaining budget, so that one hard key does not hide a plain fault of another.
//
// Ok requires that every part is Ok. Illegal requires one part whose search finished
// within its budget and found no order: a history is linearizable only if each part is.
// Otherwise the verdict is Unknown.
func Check(spec Spec, h *History, budget Budget) Result {
	if h == nil {
		return Result{Verdict: Ok}
	}
	return CheckOperations(spec, h.Operations(), budget)
}

// CheckOperations is [Check] for operations in porcupine's form.
func CheckOperations(spec Spec, ops []porcupine.Operation, budget Budget) Result {
	for i, op := range ops {
		if err := validate(spec, op); err != nil {
			return Result{Why: fmt.Errorf("operation %d of client %d: %w", i, op.ClientId, err)}
		}
	}
	budget = budget.orDefault()
	start := wallStart(budget)
	parts := partition(spec, ops)
	total := Result{Verdict: Ok}
	for i, part := range parts {
		share := budget.share(total, int64(len(parts)-i), start)
		r := checkPart(spec, part, share)
		total.Steps += r.Steps
		total.Bytes += r.Bytes
		switch r.Verdict {
		case Illegal:
			total.Verdict, total.Why, total.Failed = Illegal, nil, part
			return total
		case Unknown:
			if total.Why == nil {
				total.Verdict, total.Why = Unknown, r.Why
			}
		}
	}
	return total
}

func validate(spec Spec, op porcupine.Operation) error {
	if op.Return < op.Call {
		return fmt.Errorf("%w: %v returned at %d before its call at %d", ErrBadOperation, op.Input, op.Return, op.Call)
	}
	return spec.Validate(op.Input, op.Output)
}

// checkPart searches one part of a history.
func checkPart(spec Spec, part []porcupine.Operation, budget Budget) Result {
	if budget.Wall < 0 { // used up by earlier parts
		return Result{Why: ErrWallBudget}
	}
	m := newMeter(spec, len(part), budget)
	found := porcupine.CheckOperationsTimeout(m.model(), part, budget.Wall)
	r := Result{Steps: m.steps.Load(), Bytes: m.bytes.Load()}
	why := m.why()
	switch {
	case why != nil:
		// Once the meter has stopped, every step fails and porcupine reports Illegal
		// for any history, so its verdict is ignored.
		r.Why = why
	case found == porcupine.Ok:
		r.Verdict = Ok
	case found == porcupine.Illegal:
		r.Verdict = Illegal
	default:
		m.stop(ErrWallBudget) // makes the abandoned search stop at its next step
		r.Why = ErrWallBudget
	}
	return r
}

func (b Budget) orDefault() Budget {
	if b.Steps <= 0 {
		b.Steps = DefaultSteps
	}
	if b.Bytes <= 0 {
		b.Bytes = DefaultBytes
	}
	return b
}

// share returns the part of the budget for the next of n parts of the history.
func (b Budget) share(spent Result, n int64, start time.Time) Budget {
	s := Budget{Steps: (b.Steps - spent.Steps) / n, Bytes: (b.Bytes - spent.Bytes) / n}
	if b.Wall > 0 {
		if s.Wall = b.Wall - time.Since(start); s.Wall == 0 {
			s.Wall = -1
		}
	}
	return s
}

func wallStart(b Budget) time.Time {
	if b.Wall <= 0 {
		return time.Time{}
	}
	return time.Now()
}

// meter sits between porcupine and the specification and counts. The search runs on a
// goroutine of porcupine's that outlives a wall timeout, hence the atomics.
type meter struct {
	spec     Spec
	limit    Budget
	overhead int64 // bytes that porcupine keeps per step besides the state
	steps    atomic.Int64
	bytes    atomic.Int64
	stopped  atomic.Pointer[error]
}

func newMeter(spec Spec, ops int, limit Budget) *meter {
	// For each state it keeps the set of operations done so far, one bit each.
	return &meter{spec: spec, limit: limit, overhead: int64(ops/8) + 64}
}

func (m *meter) model() porcupine.Model {
	return porcupine.Model{Init: m.init, Step: m.step, Equal: m.equal, Hash: m.hash}
}

// stop ends the search for a reason; the first reason is kept.
func (m *meter) stop(why error) { m.stopped.CompareAndSwap(nil, &why) }

func (m *meter) why() error {
	if p := m.stopped.Load(); p != nil {
		return *p
	}
	return nil
}

// step is Step within the budget. The state that a step reads is charged before it
// runs, so it does not start without room for that; the state that it makes is charged
// afterwards, so the budget is exceeded by at most one state. After the meter has
// stopped, all steps fail at once, and porcupine unwinds its search without further
// work.
func (m *meter) step(state, input, output any) (ok bool, next any) {
	if m.stopped.Load() != nil {
		return false, state
	}
	defer func() {
		if m.guard(recover()) {
			ok, next = false, state
		}
	}()
	if m.steps.Load() >= m.limit.Steps {
		m.stop(ErrStepBudget)
		return false, state
	}
	if !m.charge(int64(m.spec.Size(state)) + m.overhead) {
		return false, state
	}
	m.steps.Add(1)
	ok, next = m.spec.Step(state, input, output)
	if ok && !m.charge(int64(m.spec.Size(next))) {
		return false, state
	}
	return ok, next
}

// charge spends bytes, or stops the search when too few are left.
func (m *meter) charge(n int64) bool {
	if n > m.limit.Bytes-m.bytes.Load() {
		m.stop(ErrByteBudget)
		return false
	}
	m.bytes.Add(n)
	return true
}

// guard turns a recovered panic of the specification into a stop: nothing else can
// recover it on porcupine's goroutine.
func (m *meter) guard(p any) bool {
	if p == nil {
		return false
	}
	m.stop(fmt.Errorf("%w: %s: %v", ErrSpecPanicked, m.spec.Name(), p))
	return true
}

func (m *meter) init() (state any) {
	defer func() { m.guard(recover()) }()
	return m.spec.Init()
}

func (m *meter) equal(a, b any) (same bool) {
	defer func() { m.guard(recover()) }()
	return m.spec.Equal(a, b)
}

func (m *meter) hash(state any) (h uint64) {
	defer func() { m.guard(recover()) }()
	return m.spec.Hash(state)
}
