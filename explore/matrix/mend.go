package matrix

import (
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// remedy is something that needs no change of the protocol.
type remedy struct {
	with    sim.Strengthen
	inOrder bool
}

func (r remedy) String() string {
	var parts []string
	if r.with != 0 {
		parts = append(parts, strings.Split(r.with.String(), "+")...)
	}
	if r.inOrder {
		parts = append(parts, "in-order")
	}
	return strings.Join(parts, " and ")
}

// remedies returns the single ones, and then the pairs.
func remedies() [2][]remedy {
	single := []remedy{{with: sim.Inlined}, {with: sim.Fenced}, {with: sim.FlushRead}, {inOrder: true}}
	var pairs []remedy
	for i, a := range single {
		for _, b := range single[i+1:] {
			pairs = append(pairs, remedy{a.with | b.with, a.inOrder || b.inOrder})
		}
	}
	return [2][]remedy{single, pairs}
}

// on returns the profile with the remedy's changes.
func (r remedy) on(p faults.Profile) (faults.Profile, error) {
	if !r.inOrder {
		return p, nil
	}
	return p.WithKnob("Placement", faults.InOrder.String())
}

// mends looks for remedies for the broken rows, the weakest first: a remedy for a row
// also works for stronger ones.
func (f *filler) mends(rows []row) error {
	done := make([]bool, len(rows))
	for {
		next := -1
		for i := range rows {
			x := f.known(rows[i].profile, 0)
			if done[i] || x == nil || x.verdict != Breaks || f.unexercised(&rows[i]) {
				continue
			}
			if next < 0 || faults.WeakerOrEqual(rows[i].profile, rows[next].profile) {
				next = i
			}
		}
		if next < 0 {
			return nil
		}
		done[next] = true
		if err := f.mend(&rows[next]); err != nil {
			return err
		}
	}
}

// sameCard names a remedy that needs no other card, if the searches so far show one.
func (f *filler) sameCard(r *row) string {
	for _, size := range remedies() {
		for _, m := range size {
			if x := f.known(r.profile, m.with); !m.inOrder && x != nil && x.verdict == Holds {
				return "; on the same card " + m.String()
			}
		}
	}
	return ""
}

// mend finds the smallest remedy for a row.
func (f *filler) mend(r *row) error {
	var open []string
	for _, size := range remedies() {
		for _, m := range size {
			p, err := m.on(r.profile)
			if err != nil {
				return err
			}
			x, err := f.look(p, m.with)
			if err != nil {
				return err
			}
			if x.verdict == Undecided && !finer(p) {
				if x, err = f.full(p, m.with); err != nil {
					return err
				}
			}
			switch x.verdict {
			case Holds:
				r.Mend = m.String()
				if x.left > 0 && m.with&sim.Inlined != 0 {
					r.Mend += " (where it fits)"
				}
				if m.inOrder {
					r.Mend += f.sameCard(r)
				}
				return nil
			case Undecided:
				open = append(open, m.String())
			}
		}
	}
	r.Mend = "none of these alone or in pairs"
	if len(open) > 0 {
		r.Mend = "not decided; nothing found against: " + strings.Join(open, ", ")
	}
	return nil
}
