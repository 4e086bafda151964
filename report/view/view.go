package view

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Run is the input of a document.
type Run struct {
	Scenario       *explore.Scenario
	Counterexample *explore.Counterexample
	Replay         *explore.Replay // by ReplayFull
	Outcome        string          // the result of the run, in words
	Command        string          // that shows the run in a terminal
	Note           string          // by the author of the page; may be empty
	Litmus         bool            // it reaches an outcome rather than breaking a promise
	// Read reads the file that the compiler knew by a name; nil: no source lines.
	Read func(file string) ([]byte, error)
	Hand *Hand // of a run that is made by hand
}

// New makes the document of a run.
func New(r Run) *Document {
	ce, re := r.Counterexample, r.Replay
	d := &Document{Version: Version, Scenario: ce.Scenario, Note: r.Note, Hand: r.Hand, Doc: r.Scenario.Doc, Bounds: r.Scenario.Bounds, Profile: ce.Profile,
		Faults: ce.Faults, Timers: ce.Time(), Strengthen: ce.Strengthen, Outcome: r.Outcome, Command: r.Command, Hosts: slices.Clone(re.Hosts),
		Rows: []Row{}, Requests: []Request{}, Pieces: []Piece{}, Regions: []Region{}, Changes: []Change{}, Looks: []Span{},
		Doubts: []Doubt{}, Operations: []Operation{}, Story: []Sentence{}, Decisions: []Decision{}, Sources: []Source{}, Events: []Event{}}
	s := newSources(r.Read)
	d.events(re, s)
	d.rows(re)
	if re.Record != nil {
		d.record(re.Record)
	}
	for _, o := range re.Operations {
		d.Operations = append(d.Operations, Operation{Client: o.Client, Call: o.Call, Result: o.Result, Begin: int(o.Begin), End: int(o.End)})
	}
	for _, t := range re.Taken {
		d.Decisions = append(d.Decisions, Decision{Step: t.Step, At: t.At, Take: t.Take})
	}
	d.violation(r)
	d.Sources = s.list
	return d
}

// violation describes the violation, in the words of the check.
func (d *Document) violation(r Run) {
	err := r.Replay.Err
	if err == nil {
		return
	}
	v := &Violation{Class: explore.ClassOf(err), Message: err.Error(), Litmus: r.Litmus, Source: -1}
	for i := range d.Events {
		v.Step = d.Events[i].Step
		if d.Events[i].Kind == "violation" {
			v.Source = d.Events[i].Source
			break
		}
	}
	if c := r.Replay.LastChance; c != nil {
		v.LastChance, v.Tried, v.TriedFrom = &c.Step, c.Tried, c.From
	}
	d.Violation = v
}

func (d *Document) events(re *explore.Replay, s *sources) {
	for i := range re.Events {
		e := &re.Events[i]
		d.Events = append(d.Events, Event{Step: e.Step, Host: slices.Index(re.Hosts, e.Host), Life: e.Life,
			Peer: slices.Index(re.Hosts, e.Peer), Kind: e.Kind, Text: e.Text, Source: s.at(e.Source, e.File), Request: requestOf(re, e)})
	}
}

// requestOf is the request of an event; those of a replay without a record have none.
func requestOf(re *explore.Replay, e *sim.TraceEvent) int {
	if re.Record == nil {
		return -1
	}
	return e.Request
}

func (d *Document) rows(re *explore.Replay) {
	all, _ := timeline.Rows(re.Timeline(), true)
	for i := range all {
		for _, n := range all[i].Events {
			e := &d.Events[n]
			e.Cell, e.Marked = above.Replace(strings.Join(all[i].Cells[e.Host], "; ")), all[i].Marked
		}
	}
	rows, left := timeline.Rows(re.Timeline(), false)
	d.LeftOut = left
	for i := range rows {
		x := &rows[i]
		y := Row{Step: x.Step, Last: x.Last, Marked: x.Marked, Cells: make([][]string, len(x.Cells)), Sources: x.Sources, Events: x.Events}
		for h := range x.Cells {
			y.Cells[h] = []string{}
			for _, text := range x.Cells[h] {
				y.Cells[h] = append(y.Cells[h], above.Replace(text))
			}
		}
		if y.Sources == nil {
			y.Sources = []string{}
		}
		slices.Sort(y.Events)
		d.Rows = append(d.Rows, y)
	}
}

// above adapts texts of a timeline to a page: the promise or outcome is below a timeline, and at the top of a page.
var above = strings.NewReplacer("violates the promise below", "violates the promise above", "reaches the outcome below", "reaches the outcome above")

func (d *Document) record(x *sim.Record) {
	for _, r := range x.Requests {
		d.Requests = append(d.Requests, Request{QP: r.QP, Number: r.Number, Op: r.Op, Host: r.Host, Peer: r.Peer, Region: r.Region,
			Offset: r.Offset, Length: r.Length, Payload: hex.EncodeToString(r.Payload), Posted: r.Posted, Done: r.Done, Status: r.Status,
			Signaled: r.Signaled})
	}
	for _, p := range x.Pieces {
		d.Pieces = append(d.Pieces, Piece{Span{p.Event, p.Region, p.Offset, p.Length}, p.Request, string(p.Fate)})
	}
	for _, r := range x.Regions {
		d.Regions = append(d.Regions, Region{Host: r.Host, Life: r.Life, Number: r.Number, Size: r.Size, Name: r.Name, Born: r.Born, Gone: r.Gone})
	}
	for _, c := range x.Changes {
		d.Changes = append(d.Changes, Change{Event: c.Event, Region: c.Region, Offset: c.Offset, Data: hex.EncodeToString(c.Data), Request: c.Request})
	}
	for _, l := range x.Looks {
		d.Looks = append(d.Looks, Span{l.Event, l.Region, l.Offset, l.Length})
	}
	for _, u := range x.Doubts {
		d.Doubts = append(d.Doubts, Doubt{Span{u.Event, u.Region, u.Offset, u.Length}, u.Open})
	}
}
