package sim

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// TraceEvent is one line of a run's timeline.
type TraceEvent struct {
	Step int    `json:"step"`
	Host string `json:"host"`
	Life int    `json:"life"`
	// Peer is the other host involved, if any.
	Peer string `json:"peer,omitempty"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Source is the line of the protocol that caused the event, as file:line.
	Source string `json:"source,omitempty"`
	// File is the full name of its file, as the compiler knew it.
	File string `json:"-"`
	// Request is the index in Record.Requests of the send work request concerned, or -1.
	// It is set only with a Record.
	Request int `json:"-"`
	// Call identifies the call that its host receives or answers, or whose answer it receives.
	Call string `json:"-"`
}

// Tracer collects the events of one run and, with a Record, more about them.
type Tracer struct {
	Events []TraceEvent
	Record *Record
}

// SetTracer makes the following runs record their events; nil stops that.
func (w *World) SetTracer(t *Tracer) {
	w.tracer = t
	if x := w.rec(); x != nil {
		x.begin()
	}
}

func (w *World) trace(h *Host, kind, format string, args ...any) {
	if w.tracer != nil {
		w.add(h, "", kind, fmt.Sprintf(format, args...))
	}
}

// traceFrom is like trace, for an event that concerns two hosts: it happens at "at".
func (w *World) traceFrom(peer, at *Host, kind, format string, args ...any) {
	if w.tracer != nil {
		p := ""
		if peer != nil && peer != at {
			p = peer.Name()
		}
		if at == nil {
			at = peer
		}
		w.add(at, p, kind, fmt.Sprintf(format, args...))
	}
}

// traceCall is like traceFrom, for an event of a call.
func (w *World) traceCall(r *request, peer, at *Host, kind, format string, args ...any) {
	w.traceFrom(peer, at, kind, format, args...)
	w.tracer.Events[len(w.tracer.Events)-1].Call = r.name() + "." + strconv.Itoa(r.idx)
}

func (w *World) add(h *Host, peer, kind, text string) {
	w.recordDoubts()
	e := TraceEvent{Step: w.steps, Peer: peer, Kind: kind, Text: text, Request: -1}
	if h != nil {
		e.Host, e.Life = h.Name(), h.life
	}
	if w.cur != nil && w.cur.h == h {
		e.Source, e.File = caller(w.cfg.Helpers)
	}
	if x := w.rec(); x != nil && kind == "completion" {
		e.Request, x.done = x.done, -1
	}
	w.tracer.Events = append(w.tracer.Events, e)
}

// caller returns the nearest line of code outside the simulator and its interfaces: a
// line of the protocol, or of a helper if there is none.
func caller(helpers []string) (line, file string) {
	var pcs [24]uintptr
	n := runtime.Callers(3, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		helps := isHelper(f.Function, helpers)
		if f.File != "" && !isMachinery(f.Function) && (file == "" || !helps) {
			line, file = filepath.Base(filepath.Dir(f.File))+"/"+filepath.Base(f.File)+":"+itoa(f.Line), f.File
			if !helps {
				return line, file
			}
		}
		if !more {
			return line, file
		}
	}
}

// isHelper reports whether a trace names the caller of a function instead of the function's own line.
func isHelper(function string, helpers []string) bool {
	return strings.Contains(function, "/kit/") || slices.ContainsFunc(helpers, func(h string) bool { return strings.HasSuffix(function, h) })
}

// isMachinery reports whether a function belongs to the simulator, or stands between it and protocols.
func isMachinery(function string) bool {
	for _, part := range []string{"/verbs/sim.", "/host.", "/coord.", "/explore.(", "/explore/scenario."} {
		if strings.Contains(function, part) {
			return true
		}
	}
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "iter.")
}

func (w *World) tracePost(q *qp, s *sqEntry, wr *verbs.SendWR) {
	flags := ""
	for i, n := range []string{"signaled", "fence", "inline", "solicited"} {
		if wr.Flags&(1<<i) != 0 {
			flags += " " + n
		}
	}
	to := q.w.nodes[q.remoteNode()]
	text := fmt.Sprintf("posts %v #%d of %d bytes at %d%s", wr.Op, q.posted-1, s.length, wr.RemoteAddr&0xffffffff, flags)
	w.recordPost(q, s, wr)
	w.add(q.h, to.spec.Name, "post", text)
	w.eventOf(q, q.posted-1)
}

func (w *World) traceLanding(e *elem) {
	if w.tracer == nil {
		return
	}
	text := e.q.name() + " #" + itoa(e.wr) + e.effect()
	w.recordPiece(e, e.off, e.n, Landed, w.nextEvent())
	w.add(e.reg.h, e.q.h.Name(), "land", text)
	w.eventOf(e.q, e.wr)
}

// effect describes what e, which has just landed, did to memory.
func (e *elem) effect() string {
	at := fmt.Sprintf("%d..%d", e.off, e.off+e.n-1)
	if !e.modifies() {
		return fmt.Sprintf(" lands at %s: %s", at, hexText(e.data))
	}
	switch s, old := e.q.ent(e.wr), binary.LittleEndian.Uint64(e.data); {
	case s.op == verbs.OpFetchAdd:
		return fmt.Sprintf(" adds %#x to %#x at %s", s.add, old, at)
	case old == s.compare:
		return fmt.Sprintf(" swaps %#x→%#x at %s", old, s.swap, at)
	default:
		return fmt.Sprintf(" finds %#x, not %#x, at %s", old, s.compare, at)
	}
}

// eventOf marks the last event as one about request i of q.
func (w *World) eventOf(q *qp, i int) {
	if x := w.rec(); x != nil {
		w.tracer.Events[w.lastEvent()].Request = x.requestOf(q, i)
	}
}
