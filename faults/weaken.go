package faults

import "strings"

// about says of a knob what a check of a protocol has to know. A knob without an
// entry acts always and on its own.
type about struct {
	// exercised is what a program does for the promise to matter, any of it.
	exercised Exercise
	// needs is another knob and the value that it must have for this one to
	// say anything.
	needs, needed string
	// size: it is an amount or an ability, not a promise; the text says why it is
	// not weakened.
	size string
	// blind says why the simulator makes no difference between the values.
	blind string
	// finer: the weaker value multiplies the states of a search.
	finer bool
}

// abouts says more of the knobs, by their names.
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
	"MTU":               {size: "it is the size of a packet, and WholePackets defines its effect"},
	"MaxInline":         {size: "it limits what a program may request, and a program that requests too much fails at once"},
	"MaxRdAtomic":       {size: "a send queue that stalls sooner only orders more"},
	"DDIO":              {exercised: Persistence},
	"Domain":            {exercised: Persistence},
	"TornLines":         {exercised: Persistence},
	"FlushOps":          {size: "a card without it refuses such requests at once"},
}

// Weakening is one way to promise less than a profile: one knob turned.
type Weakening struct {
	Knob, Value string
	// Exercised is what a program must do to tell, any of it; 0: nothing special.
	Exercised Exercise
	// Needs is another turn without which this one says nothing, as `Knob=value`.
	Needs string
	// Blind says why the simulator cannot tell; empty if it can.
	Blind string
	// Finer weakenings make messages come apart into more pieces, which
	// multiplies the states of a search.
	Finer bool
	// Other: neither weaker nor stronger, so that nothing follows from one for
	// the other.
	Other bool
	// Same: the profile promises nothing here, so there is nothing to take away.
	Same bool
}

// String returns the turn, as `Knob=value`.
func (w Weakening) String() string { return w.Knob + "=" + w.Value }

// Weakenings returns all single turns of a knob of the profile strong to a
// weaker value, or to one that cannot be compared. A knob that strong gives its
// weakest value already has one entry, which is Same. Amounts have none: see
// [Sizes].
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

// Unordered returns the names of the knobs that [WeakerOrEqual] does not compare
// and that differ between a and b. A program may be told of their values, and
// do other things for it.
func Unordered(a, b Profile) []string {
	var out []string
	for _, k := range knobs {
		if k.weaker == nil && k.get(&a) != k.get(&b) {
			out = append(out, k.name)
		}
	}
	return out
}

// Sizes returns the knobs that are amounts or abilities and not promises, and why
// nothing is to be learned from weakening them alone.
func Sizes() (names, reasons []string) {
	for _, k := range knobs {
		if a := abouts[k.name]; a.size != "" {
			names, reasons = append(names, k.name), append(reasons, a.size)
		}
	}
	return names, reasons
}
