package host

import "iter"

// Visit goes through hosts one by one: see [Host].Visit.
type Visit interface {
	// Next returns the index of the next host, and false after the last one.
	Next() (int, bool)
	// End ends the visit. It must be called if Next has not returned false.
	End()
}

// InAnyOrder yields the index of each of names once, in an order that the protocol leaves open. The
// simulator tries every order of hosts that a scenario calls symmetric. Code that goes through such
// hosts must do it like this if others can act in between, or if it prefers one of several that are
// alike: "the first that fits" in a list is the one with the smallest name, and such a list does not treat
// them alike.
//
//	for i := range host.InAnyOrder(h, names) {
//		links[i], errs[i] = connect(names[i])
//	}
//
// What remains of a loop must not depend on the order: keep results by index, as above, or in a sum or a
// maximum. Elsewhere than in the simulator the order is that of names.
func InAnyOrder(h Host, names []string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(names) == 1 {
			yield(0)
			return
		}
		v := h.Visit(names)
		for i, ok := v.Next(); ok; i, ok = v.Next() {
			if !yield(i) {
				v.End()
				return
			}
		}
	}
}

// InTurn returns a visit in the order of names.
func InTurn(names []string) Visit { return &inTurn{n: len(names)} }

type inTurn struct{ i, n int }

func (v *inTurn) Next() (int, bool) {
	v.i++
	return v.i - 1, v.i <= v.n
}

func (*inTurn) End() {}
