package explore

import (
	"maps"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
)

// totals are what a search sums up beside its graph, over all its parts if it was
// saved and resumed. They are saved with it, so a condition has its name: the code may
// have got another condition before it.
type totals struct {
	Runs          uint64
	Elapsed       time.Duration
	Met, Outcomes []string
	Steps, Posts  uint64
	NotInline     uint64
	Exercised     faults.Exercise
	MaxPayload    int
	TimedWaits    uint64
	ClockReads    uint64
	VainPolls     uint64
}

// add adds what the workers of one part saw.
func (t *totals) add(cases []*Case) {
	for _, c := range cases {
		for i, name := range c.scenario.Sometimes {
			if c.sometimes>>i&1 == 1 && !slices.Contains(t.Met, name) {
				t.Met = append(t.Met, name)
			}
		}
		t.Outcomes = append(t.Outcomes, slices.Sorted(maps.Keys(c.outcomes))...)
		st := c.w.Stats()
		t.Steps += st.Steps
		t.Posts += st.Posts
		t.NotInline += st.NotInline
		t.Exercised |= st.Exercised
		t.TimedWaits += st.TimedWaits
		t.ClockReads += st.ClockReads
		t.VainPolls += st.VainPolls
		t.MaxPayload = max(t.MaxPayload, st.MaxPayload)
	}
	slices.Sort(t.Outcomes)
	t.Outcomes = slices.Compact(t.Outcomes)
}

// collect takes the totals into the result.
func (r *Result) collect(s *Scenario, t *totals) {
	for _, name := range s.Sometimes {
		r.Sometimes = append(r.Sometimes, Condition{name, slices.Contains(t.Met, name)})
	}
	r.Outcomes = t.Outcomes
	r.Steps, r.Posts, r.NotInline = t.Steps, t.Posts, t.NotInline
	r.TimedWaits, r.ClockReads, r.VainPolls = t.TimedWaits, t.ClockReads, t.VainPolls
	r.Exercised, r.MaxPayload = t.Exercised, t.MaxPayload
}
