package story

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// doubtful says which bytes of persistent memory were not certain to outlive a power failure.
func (t *teller) doubtful(event int) string {
	e := &t.d.Events[event]
	if e.Kind != "power" {
		return ""
	}
	text := t.places(t.open(e.Host, event))
	if text == "" {
		return ""
	}
	return " Not certain to persist: " + text + "."
}

// open lists the bytes of persistent memory of a host that were not certain to persist after an event, in order, with
// the event that made them so.
func (t *teller) open(host, event int) []view.Span {
	var open []view.Span
	for _, x := range t.d.Doubts {
		if x.Event > event || t.d.Regions[x.Region].Host != host {
			continue
		}
		open = slices.DeleteFunc(open, func(y view.Span) bool { return y.Region == x.Region && y.Offset == x.Offset })
		if x.Open {
			open = append(open, x.Span)
		}
	}
	slices.SortFunc(open, func(a, b view.Span) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Offset, b.Offset))
	})
	return open
}

// places names bytes that are in order: "bytes 0 to 15 of log".
func (t *teller) places(spans []view.Span) string {
	var out []string
	for i := 0; i < len(spans); {
		first, end := spans[i], spans[i].Offset+spans[i].Length
		for i++; i < len(spans) && spans[i].Region == first.Region && spans[i].Offset == end; i++ {
			end += spans[i].Length
		}
		out = append(out, fmt.Sprintf("bytes %d to %d of %s", first.Offset, end-1, cmp.Or(t.d.Regions[first.Region].Name, "its memory")))
	}
	return list(out)
}

// leftByPower says, where a host first looks at persistent memory after a power failure, which bytes are not as they
// were before it. Such a look ends the doubt about them.
func (t *teller) leftByPower() {
	failed := map[int]bool{} // by host
	next := 0
	for i := range t.d.Changes {
		c := &t.d.Changes[i]
		for ; next < len(t.d.Events) && next <= c.Event; next++ {
			if e := &t.d.Events[next]; e.Kind == "power" && e.Host >= 0 {
				failed[e.Host] = true
			}
		}
		g := &t.d.Regions[c.Region]
		if g.Name == "" || !failed[g.Host] || !t.settles(c) {
			continue
		}
		now, err := hex.DecodeString(c.Data)
		if was := t.content(i); err == nil && !bytes.Equal(was, now) {
			t.key(c.Event, "%s finds that the power failure took what was at %s: %s is there, not %s.",
				t.d.Hosts[g.Host], t.places([]view.Span{*span(c)}), value(now), value(was))
		}
	}
}

// settles reports whether a change is what a power failure had left, and a look at it decided.
func (t *teller) settles(c *view.Change) bool {
	return c.Request < 0 && slices.ContainsFunc(t.d.Doubts, func(x view.Doubt) bool {
		return !x.Open && x.Event == c.Event && x.Region == c.Region && x.Offset == c.Offset
	})
}

// content is what the bytes of a change were before it.
func (t *teller) content(change int) []byte {
	at := span(&t.d.Changes[change])
	out := make([]byte, at.Length)
	for i := range change {
		c := &t.d.Changes[i]
		if x := span(c); overlap(x, at) {
			data, err := hex.DecodeString(c.Data)
			if err != nil {
				continue
			}
			from := max(x.Offset, at.Offset)
			copy(out[from-at.Offset:], data[from-x.Offset:])
		}
	}
	return out
}

// value is some bytes as timelines show them: 8 are a number of the machine.
func value(b []byte) string {
	if len(b) != 8 {
		return fmt.Sprintf("% x", b)
	}
	b = slices.Clone(b)
	slices.Reverse(b)
	return "0x" + cmp.Or(string(bytes.TrimLeft([]byte(hex.EncodeToString(b)), "0")), "0")
}
