package sim_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
	"github.com/verbatim-rdma/verbatim/verbs/verbstest"
)

// recording compares the record of a run with the memory of the world before one in eight of its steps.
type recording struct {
	sim.Policy
	t    *testing.T
	w    *sim.World
	r    *sim.Record
	mem  [][]byte // according to the record
	seen int      // how many of its changes are in mem
}

func (p *recording) Pick(events []sim.Event) int {
	for i := len(p.mem); i < len(p.r.Regions); i++ {
		p.mem = append(p.mem, make([]byte, p.r.Regions[i].Size))
	}
	for ; p.seen < len(p.r.Changes); p.seen++ {
		c := &p.r.Changes[p.seen]
		copy(p.mem[c.Region][c.Offset:], c.Data)
	}
	if p.w.Steps()%8 != 0 {
		return p.Policy.Pick(events)
	}
	for i, want := range p.w.Memory() {
		if got := p.mem[i]; want == nil && p.r.Regions[i].Gone < 0 || want != nil && !bytes.Equal(got, want) {
			p.t.Errorf("step %d: region %d of host %d is recorded as %q and is %q", p.w.Steps(), i, p.r.Regions[i].Host, got, want)
			return -1
		}
	}
	return p.Policy.Pick(events)
}

// The memory that a record describes is the memory that was there, in every case of the
// suite that cards must pass, and everything that the record refers to exists.
func TestRecordIsTrue(t *testing.T) {
	requests, pieces := 0, map[sim.Fate]int{}
	t.Cleanup(func() {
		if requests == 0 || pieces[sim.Landed] == 0 || pieces[sim.Sampled] == 0 || pieces[sim.Dropped] == 0 {
			t.Errorf("%d requests and pieces %v: some kind never occurs", requests, pieces)
		}
	})
	p, err := faults.ProfileByName("relaxed")
	if err != nil {
		t.Fatal(err)
	}
	verbstest.Run(t, simulatedBy(p, func(w *sim.World, seed int) sim.Policy {
		x := &sim.Record{}
		tracer := &sim.Tracer{Record: x}
		w.SetTracer(tracer)
		t.Cleanup(func() {
			requests += len(x.Requests)
			checkRecord(t, tracer)
			for i := range x.Pieces {
				pieces[x.Pieces[i].Fate]++
			}
		})
		return &recording{Policy: policy(seed + 1), t: t, w: w, r: x}
	}))
}

// checkRecord checks that the references of a record lead to matching entries.
func checkRecord(t *testing.T, tr *sim.Tracer) {
	t.Helper()
	x, n := tr.Record, len(tr.Events)
	for i, r := range x.Requests {
		if r.Posted >= n || tr.Events[r.Posted].Kind != "post" || tr.Events[r.Posted].Request != i {
			t.Errorf("request %d was posted by event %d of %d", i, r.Posted, n)
		}
		if (r.Done >= 0) != (r.Status != "") {
			t.Errorf("request %d is done by event %d with status %q", i, r.Done, r.Status)
		}
		if r.Done >= 0 && r.Done < n {
			checkDone(t, tr, i)
		}
	}
	for _, p := range x.Pieces {
		if p.Request < 0 || p.Event < x.Requests[p.Request].Posted {
			t.Errorf("a piece %v of request %d at event %d, before its post", p.Fate, p.Request, p.Event)
		}
		if p.Fate == sim.Landed && p.Event < n && tr.Events[p.Event].Request != p.Request {
			t.Errorf("request %d landed with event %d, which is about %d", p.Request, p.Event, tr.Events[p.Event].Request)
		}
	}
}

// checkDone checks that request i was reported by a poll, on its own host, of its
// completion or of a later one on its queue pair.
func checkDone(t *testing.T, tr *sim.Tracer, i int) {
	t.Helper()
	r, e := &tr.Record.Requests[i], &tr.Events[tr.Record.Requests[i].Done]
	if e.Kind != "completion" || e.Request < 0 {
		t.Errorf("request %d was done by event %d, %s: %s", i, r.Done, e.Kind, e.Text)
		return
	}
	by := &tr.Record.Requests[e.Request]
	if r.Done <= r.Posted || e.Life != r.Life || by.QP != r.QP || by.Number < r.Number || by.Done != r.Done {
		t.Errorf("request %d (#%d of %s), posted by event %d, was done by %d, which tells of #%d of %s", i, r.Number, r.QP, r.Posted, r.Done, by.Number, by.QP)
	}
	if by.Number == r.Number && !strings.HasSuffix(e.Text, ": "+r.Status) || by.Number > r.Number && r.Status != verbs.StatusSuccess.String() {
		t.Errorf("request %d has status %s, and event %d says: %s", i, r.Status, r.Done, e.Text)
	}
}
