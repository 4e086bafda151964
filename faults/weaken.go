package faults

import "strings"

// about describes a knob for a check of a protocol. A knob without an entry always has
// an effect, independently of the others.
type about struct {
	// exercised lists the operations that make the promise matter, any of them.
	exercised Exercise
	// needs is another knob, and needed the value that it must have for this one to
	// have an effect.
	needs, needed string
	// size is why a knob that is an amount or a capability is not weakened.
	size string
	// blind is why the simulator does not distinguish the values.
	blind string
	// finer: the weaker value multiplies the states of a search.
	finer bool
}

// abouts describes knobs by name.
var abouts = map[string]about{
	"Placement":         {exercised: Writes},
	"CellBytes":         {exercised: Writes | Reads, finer: true},
	"ReadsSeeAcked":     {exercised: Reads | Atomics},
	"AtomicFlushes":     {exercised: Atomics},
	"AtomicOrdersLater": {exercised: Atomics},
	"FenceWaitsAll":     {exercised: Fences},
	"DrainOnRevoke":     {exercised: Revocations},
	"AtomicGlob":        {exercised: Atomics},
	"WholePackets":      {exercised: Writes},
	"FailedCellBytes":   {exercised: Writes, needs: "WholePackets", needed: "false", finer: true},
	"MTU":               {size: "it is the size of a packet; WholePackets says what a packet promises"},
	"MaxInline":         {size: "a program that exceeds it fails at once"},
	"MaxRdAtomic":       {size: "a send queue that stalls sooner only orders more"},
	"DDIO":              {exercised: Persistence},
	"Domain":            {exercised: Persistence},
	"TornLines":         {exercised: Persistence},
	"FlushOps":          {size: "a card without it refuses such requests, so a program notices at once"},
}

// Weakening is one way to promise less than a profile: one changed knob.
type Weakening struct {
	Knob, Value string
	// Exercised is what a program must do to observe it, any of it; 0: nothing special.
	Exercised Exercise
	// Needs is another change without which this one has no effect, as `Knob=value`.
	Needs string
	// Blind is why the simulator cannot observe it; empty if it can.
	Blind string
	// Finer: messages split into more pieces, which multiplies the states of a search.
	Finer bool
	// Other: neither weaker nor stronger, so a verdict for one implies nothing for the
	// other.
	Other bool
	// Same: the profile promises nothing here, so there is nothing to weaken.
	Same bool
}

// String returns the change, as `Knob=value`.
func (w Weakening) String() string { return w.Knob + "=" + w.Value }

// Weakenings returns every change of one knob of the profile strong to a weaker value,
// or to one that cannot be compared. A knob whose value in strong is the weakest
// already has one entry, which is Same. Amounts have none: see [Sizes].
func Weakenings() []Weakening {
	var out []Weakening
	base := strong()
	for _, k := range knobs {
		a := abouts[k.name]
		if a.size != "" || k.weaker == nil {
			continue
		}
		now := Weakening{Knob: k.name, Value: k.get(&base), Exercised: a.exercised, Blind: a.blind, Finer: a.finer, Same: true}
		if a.needs != "" {
			now.Needs = a.needs + "=" + a.needed
		}
		found := false
		for value := range strings.SplitSeq(k.legal, ", ") {
			p := strong()
			if k.set(&p, value) != nil || k.get(&p) == k.get(&base) || k.weaker(&base, &p) {
				continue // not a value, the same, or stronger
			}
			w := now
			w.Value, w.Same, w.Other = k.get(&p), false, !k.weaker(&p, &base)
			out, found = append(out, w), true
		}
		if !found {
			out = append(out, now)
		}
	}
	return out
}

// Unordered returns the names of the knobs that differ between a and b and that
// [WeakerOrEqual] does not compare. A program may read such a value and act on it.
func Unordered(a, b Profile) []string {
	var out []string
	for _, k := range knobs {
		if k.weaker == nil && k.get(&a) != k.get(&b) {
			out = append(out, k.name)
		}
	}
	return out
}

// Sizes returns the knobs that are amounts or capabilities rather than promises, and
// why weakening one alone would reveal nothing.
func Sizes() (names, reasons []string) {
	for _, k := range knobs {
		if a := abouts[k.name]; a.size != "" {
			names, reasons = append(names, k.name), append(reasons, a.size)
		}
	}
	return names, reasons
}
