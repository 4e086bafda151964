package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Record is what a run did to memory and with which requests, for programs that draw it rather than print it:
// [Tracer].Record collects it. Everything refers to Tracer.Events by index. An Event is the one that caused
// the entry, or the last one before it. -1 is before the first, or marks something that did not happen.
type Record struct {
	Requests []Request
	Regions  []RegionLife
	Pieces   []Piece
	Changes  []Change
	Looks    []Look
	Doubts   []Doubt

	regions  map[*region]int
	requests map[requestKey]int
	open     map[[2]int]bool // the units of persistent memory in doubt
	done     int             // the request of the next completion, or -1
	follow   int             // the event to which changes belong while the next one has not been recorded yet
}

// requestKey identifies a send work request: queue pairs are not reused in a run.
type requestKey struct {
	q *qp
	i int
}

// Request is one send work request.
type Request struct {
	QP         string // such as app→peer1
	Number     int    // on its queue pair
	Op         string
	Host, Peer int // by the order of World.HostNames
	Life       int
	PeerLife   int
	Signaled   bool
	Region     int // the index in Record.Regions of the region that it names, or -1
	Offset     int
	Length     int
	Payload    []byte // of a Write: the content of its source when it was posted
	Posted     int
	Done       int    // the poll of the completion that reported it, its own or a later one's, or -1
	Status     string // the status of that completion
}

// Fate is the fate of a piece of a request.
type Fate string

// The fates of pieces.
const (
	Landed  Fate = "landed"  // it is in memory
	Sampled Fate = "sampled" // a Read took it from memory
	Dropped Fate = "dropped" // it never lands
	Gone    Fate = "gone"    // its memory was freed before anybody looked
)

// Piece is a part of a request and the moment at which its fate was decided. A piece
// without an entry was still in flight when the run ended.
type Piece struct {
	Event, Request, Region int
	Offset, Length         int
	Fate                   Fate
}

// RegionLife is a region of memory.
type RegionLife struct {
	Host, Life, Number int
	Size               int
	Name               string // of persistent memory; empty for DRAM
	Born, Gone         int    // Gone is -1 if it stays
}

// Change is new content of some bytes. Request is -1 if no request of a queue pair
// caused it, but a CPU's store or the response of a Read.
type Change struct {
	Event, Region, Offset int
	Data                  []byte
	Request               int
}

// Look is a load, on which the protocol may base a decision.
type Look struct {
	Event, Region, Offset, Length int
}

// Doubt records since when it is open whether a unit of persistent memory would survive a
// power failure as it is, or was torn by one. An entry that is not Open ends the doubt.
type Doubt struct {
	Event, Region, Offset, Length int
	Open                          bool
}

// rec returns the record of the run, or nil.
func (w *World) rec() *Record {
	if w.tracer == nil {
		return nil
	}
	return w.tracer.Record
}

// begin prepares an empty record for a run.
func (r *Record) begin() {
	*r = Record{regions: map[*region]int{}, requests: map[requestKey]int{}, open: map[[2]int]bool{}, done: -1, follow: -1}
}

// nextEvent returns the index of the next event, lastEvent the index of the previous one.
func (w *World) nextEvent() int { return len(w.tracer.Events) }
func (w *World) lastEvent() int { return len(w.tracer.Events) - 1 }

func (w *World) recordRegion(r *region) {
	if x := w.rec(); x != nil {
		x.regions[r] = len(x.Regions)
		l := RegionLife{Host: r.h.node.idx, Life: r.h.life, Number: r.ord, Size: len(r.data), Born: w.nextEvent(), Gone: -1}
		if r.pm != nil {
			l.Name = r.pm.name
		}
		x.Regions = append(x.Regions, l)
	}
}

func (w *World) recordDrop(r *region) {
	if x := w.rec(); x != nil {
		if i, ok := x.regions[r]; ok {
			x.Regions[i].Gone = w.lastEvent()
		}
	}
}

// recordPost records a request at its post, before its elements are made.
func (w *World) recordPost(q *qp, s *sqEntry, wr *verbs.SendWR) {
	x := w.rec()
	if x == nil {
		return
	}
	r := Request{QP: q.name(), Number: q.posted - 1, Op: s.op.String(), Host: q.h.node.idx, Peer: q.remoteNode(), Life: q.h.life,
		PeerLife: q.remoteLife(), Signaled: s.signaled, Region: -1, Length: s.length, Posted: w.nextEvent(), Done: -1}
	if m := w.nodes[q.remoteNode()].hostLife(r.PeerLife); m != nil && wr.Op != verbs.OpSend && wr.Op != verbs.OpSendImm {
		if key := m.card.key(wr.RKey); key != nil {
			if i, ok := x.regions[key.r]; ok {
				r.Region, r.Offset = i, int(wr.RemoteAddr-key.r.base)
			}
		}
	}
	if !s.op.Responds() {
		for _, d := range s.dst {
			r.Payload = append(r.Payload, d.r.data[d.off:d.off+d.n]...)
		}
	}
	x.requests[requestKey{q, q.posted - 1}] = len(x.Requests)
	x.Requests = append(x.Requests, r)
}

// requestOf returns the index of a request of a queue pair, or -1.
func (r *Record) requestOf(q *qp, i int) int {
	if n, ok := r.requests[requestKey{q, i}]; ok {
		return n
	}
	return -1
}

// recordPiece records the fate of e, which the given event decides.
func (w *World) recordPiece(e *elem, off, n int, f Fate, event int) {
	x := w.rec()
	if x == nil || e.byCPU() || e.kind == elemFlush || e.reg == nil {
		return
	}
	if i, ok := x.regions[e.reg]; ok {
		x.Pieces = append(x.Pieces, Piece{Event: event, Request: x.requestOf(e.q, e.wr), Region: i, Offset: off, Length: n, Fate: f})
	}
}

// recordDone records the poll of a completion of q's send queue. The poll reports the
// requests in [from, wr]; when each of them was done cannot be known.
func (w *World) recordDone(q *qp, from, wr int, s verbs.Status) {
	x := w.rec()
	if x == nil {
		return
	}
	for i := from; i <= wr; i++ {
		if n := x.requestOf(q, i); n >= 0 && x.Requests[n].Done < 0 {
			r := &x.Requests[n]
			r.Done, r.Status = w.nextEvent(), verbs.StatusSuccess.String()
			if i == wr {
				r.Status = s.String()
			}
		}
	}
	x.done = x.requestOf(q, wr)
}

// recordChange records that bytes of r change. A CPU's store belongs to its own event,
// which came before; every other change belongs to the event that follows.
func (w *World) recordChange(r *region, off int, p []byte, card bool) {
	x := w.rec()
	if x == nil {
		return
	}
	i, ok := x.regions[r]
	if !ok {
		return
	}
	c := Change{Event: w.lastEvent(), Region: i, Offset: off, Data: slices.Clone(p), Request: -1}
	if card || w.placing != nil || w.finding {
		c.Event = w.nextEvent()
	}
	if e := w.placing; e != nil && !e.byCPU() {
		c.Request = x.requestOf(e.q, e.wr)
	}
	x.follow = max(x.follow, c.Event)
	x.Changes = append(x.Changes, c)
}

func (w *World) recordLook(r *region, off, n int) {
	if x := w.rec(); x != nil {
		if i, ok := x.regions[r]; ok {
			x.Looks = append(x.Looks, Look{Event: w.nextEvent(), Region: i, Offset: off, Length: n})
		}
	}
}

// recordDoubts compares which contents are certainly persistent now and at the last event.
func (w *World) recordDoubts() {
	x := w.rec()
	if x == nil {
		return
	}
	event := max(x.follow, w.lastEvent())
	x.follow = -1
	for i := range x.Regions {
		if x.Regions[i].Name != "" {
			x.doubts(w, i, event)
		}
	}
}

func (x *Record) doubts(w *World, i, event int) {
	r := x.region(i)
	if r == nil || r.pm == nil {
		return
	}
	size := w.unitBytes()
	for _, u := range r.pm.used {
		open := len(r.pm.units[u].list) > 0
		if at := [2]int{i, u}; open != x.open[at] {
			x.open[at] = open
			x.Doubts = append(x.Doubts, Doubt{Event: event, Region: i, Offset: u * size, Length: len(r.unit(u, size)), Open: open})
		}
	}
}

// region returns the region with an index in Regions.
func (x *Record) region(i int) *region {
	for r, k := range x.regions { //lint:ordered the indices differ
		if k == i {
			return r
		}
	}
	return nil
}

// recordSample records that a Read samples [lo, hi), unless it did before.
func (w *World) recordSample(e *elem, lo, hi int) {
	for _, g := range e.got {
		if g.lo <= lo && hi <= g.hi {
			return
		}
	}
	if w.tracer != nil {
		w.recordPiece(e, lo, hi-lo, Sampled, w.nextEvent())
	}
}

func (w *World) recordDropped(e *elem) {
	if w.tracer == nil {
		return
	}
	fate := Dropped
	if e.reg != nil && e.reg.freed {
		fate = Gone
	}
	w.recordPiece(e, e.off, e.n, fate, w.lastEvent())
}

// Content returns what a CPU could see in a region after an event if nothing in flight
// landed; nil if the region does not exist then.
func (x *Record) Content(region, event int) []byte {
	l := &x.Regions[region]
	if event < l.Born || l.Gone >= 0 && event > l.Gone {
		return nil
	}
	out := make([]byte, l.Size)
	for i := range x.Changes {
		if c := &x.Changes[i]; c.Region == region && c.Event <= event {
			copy(out[c.Offset:], c.Data)
		}
	}
	return out
}
