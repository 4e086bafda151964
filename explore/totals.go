package explore

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// totals are the sums of a search over all its parts if it was saved and resumed. They
// are saved with it, and conditions are identified by name, since the code may have
// gained conditions.
type totals struct {
	Runs          uint64
	Elapsed       time.Duration
	Met, Outcomes texts
	Stats         sim.Stats
}

// texts are strings of any bytes. As JSON each is base64, since a JSON string holds only
// valid UTF-8.
type texts []string

func (t texts) MarshalJSON() ([]byte, error) {
	all := make([][]byte, len(t))
	for i, s := range t {
		all[i] = []byte(s)
	}
	return json.Marshal(all)
}

func (t *texts) UnmarshalJSON(b []byte) error {
	var all [][]byte
	err := json.Unmarshal(b, &all)
	*t = nil
	for _, s := range all {
		*t = append(*t, string(s))
	}
	return err
}

// add adds the observations of the workers of one part.
func (t *totals) add(cases []*Case) {
	for _, c := range cases {
		for i, name := range c.scenario.Sometimes {
			if c.sometimes>>i&1 == 1 && !slices.Contains(t.Met, name) {
				t.Met = append(t.Met, name)
			}
		}
		t.Outcomes = append(t.Outcomes, slices.Sorted(maps.Keys(c.outcomes))...)
		t.Stats.Add(c.w.Stats())
	}
	slices.Sort(t.Outcomes)
	t.Outcomes = slices.Compact(t.Outcomes)
}

// collect moves the workers' observations and counts into the result.
func (r *Result) collect(cases []*Case, t *totals, counted *tally) {
	t.add(cases)
	r.tallied(counted)
	for _, name := range cases[0].scenario.Sometimes {
		r.Sometimes = append(r.Sometimes, Condition{name, slices.Contains(t.Met, name)})
	}
	r.Outcomes = t.Outcomes
	x := &t.Stats
	r.Steps, r.Posts, r.NotInline, r.MaxPayload = x.Steps, x.Posts, x.NotInline, x.MaxPayload
	r.TimedWaits, r.ClockReads, r.VainPolls, r.InTime, r.Exercised = x.TimedWaits, x.ClockReads, x.VainPolls, x.InTime, x.Exercised
	if r.CutShort = x.CutShort; r.CutShort > 0 {
		r.MaxPieces = cases[0].w.MaxPieces()
	}
}
