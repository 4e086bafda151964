package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Explain describes an Illegal result: the longest order of operations that the
// specification accepts, the state it leads to, and why none of the other operations
// can be next. It searches again, within the same budget; for any other verdict it
// returns only the verdict.
func Explain(spec Spec, r Result, budget Budget) string {
	if r.Verdict != Illegal {
		return fmt.Sprintf("%s: %v\n", spec.Name(), r)
	}
	budget = budget.orDefault()
	m := newMeter(spec, len(r.Failed), budget)
	_, info := porcupine.CheckOperationsVerbose(m.model(), r.Failed, budget.Wall)
	order := longest(info)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: no order of these %d operations explains their outputs; the longest that does:\n", spec.Name(), len(r.Failed))
	state := spec.Init()
	for _, i := range order {
		op := r.Failed[i]
		_, state = spec.Step(state, op.Input, op.Output)
		fmt.Fprintf(&b, "  %s\n", describeOp(spec, op))
	}
	fmt.Fprintf(&b, "then the state is %s, and none of these can be next:\n", spec.DescribeState(state))
	for _, i := range candidates(r.Failed, order) {
		fmt.Fprintf(&b, "  %s\n", describeOp(spec, r.Failed[i]))
	}
	return b.String()
}

func describeOp(spec Spec, op porcupine.Operation) string {
	when := fmt.Sprintf("[%d, %d]", op.Call, op.Return)
	if span, ok := op.Metadata.(Span); ok {
		when = span.String()
	}
	return fmt.Sprintf("client %d %s %s", op.ClientId, when, spec.DescribeOperation(op.Input, op.Output))
}

// longest chooses one partial linearization of the first partition. Porcupine returns
// them in random order: of the longest ones, choose the smallest.
func longest(info porcupine.LinearizationInfo) []int {
	var best []int
	for _, part := range info.PartialLinearizations() {
		for _, order := range part {
			if len(order) > len(best) || len(order) == len(best) && slices.Compare(order, best) < 0 {
				best = order
			}
		}
	}
	return best
}

// candidates returns the operations outside the order that real time allows next: those
// called before any other of them returned.
func candidates(ops []porcupine.Operation, order []int) []int {
	done := make([]bool, len(ops))
	for _, i := range order {
		done[i] = true
	}
	firstReturn := int64(Never)
	for i, op := range ops {
		if !done[i] {
			firstReturn = min(firstReturn, op.Return)
		}
	}
	var next []int
	for i, op := range ops {
		if !done[i] && op.Call <= firstReturn {
			next = append(next, i)
		}
	}
	return next
}
