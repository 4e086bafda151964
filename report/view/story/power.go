package story

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// doubtful returns a sentence about the bytes of persistent memory that a power failure could take.
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

// open returns the bytes of a host's persistent memory that were not certain to persist after an event, in order. It
// ignores changes from before the last power failure: leftByPower reports what that failure took.
func (t *teller) open(host, event int) []view.Span {
	since := t.lastPower(host, event)
	var open []view.Span
	for _, x := range t.d.Doubts {
		if x.Event > event || x.Event <= since || t.d.Regions[x.Region].Host != host {
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

// places returns the names of sorted spans: "bytes 0 to 15 of log".
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

// lastPower returns the last power failure of a host before an event, or -1.
func (t *teller) lastPower(host, event int) int {
	for i := min(event, len(t.d.Events)) - 1; i >= 0; i-- {
		if e := &t.d.Events[i]; e.Kind == "power" && e.Host == host {
			return i
		}
	}
	return -1
}

// leftByPower adds a sentence for bytes of persistent memory that a power failure changed, at the first look after the
// failure.
func (t *teller) leftByPower() {
	for i := range t.d.Changes {
		c := &t.d.Changes[i]
		host := t.d.Regions[c.Region].Host
		if !t.settles(c, t.lastPower(host, c.Event)) {
			continue
		}
		now, err := hex.DecodeString(c.Data)
		if was := t.content(span(c), i); err == nil && !bytes.Equal(was, now) {
			t.key(c.Event, "%s finds that the power failure took what was at %s: %s is there, not %s.",
				t.d.Hosts[host], t.places([]view.Span{*span(c)}), value(now), value(was))
		}
	}
}

// settles reports whether a change is the result of a look at bytes that a power failure left in doubt. A store is no such
// change.
func (t *teller) settles(c *view.Change, failure int) bool {
	at := span(c)
	looked := slices.ContainsFunc(t.d.Looks, func(l view.Span) bool { return l.Event == c.Event && overlap(&l, at) })
	open := false // whether the bytes were in doubt at the failure
	for _, x := range t.d.Doubts {
		if x.Region != c.Region || x.Offset != c.Offset || x.Event > c.Event {
			continue
		}
		switch {
		case x.Event <= failure:
			open = x.Open
		case x.Event < c.Event:
			return false // an earlier look decided it, or a store changed the bytes
		}
	}
	return failure >= 0 && c.Request < 0 && looked && open
}

// content returns the bytes of a span after the given number of changes.
func (t *teller) content(at *view.Span, changes int) []byte {
	out := make([]byte, at.Length)
	for i := range changes {
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

// value formats bytes as timelines do: 8 bytes are a little-endian number.
func value(b []byte) string {
	if len(b) != 8 {
		return fmt.Sprintf("% x", b)
	}
	b = slices.Clone(b)
	slices.Reverse(b)
	return "0x" + cmp.Or(string(bytes.TrimLeft([]byte(hex.EncodeToString(b)), "0")), "0")
}
