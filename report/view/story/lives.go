package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// lives says which hosts failed and came back, which other faults there were, and what the
// protocol noted itself.
func (t *teller) lives() {
	for i := range t.d.Events {
		e := &t.d.Events[i]
		switch {
		case e.Kind == "violation" || e.Host < 0:
		case e.Kind == "log":
			t.say(i, "%s notes: %s.", t.d.Hosts[e.Host], strings.TrimSuffix(e.Text, "."))
		case e.Kind == "start" && e.Life > 0, e.Kind != "start" && e.Marked:
			t.say(i, "%s.%s%s", subject(t.d.Hosts[e.Host], e.Text), t.lost(i), t.doubtful(i))
		}
	}
}

// subject puts a host before what it does, or what is the case there.
func subject(host, text string) string {
	if strings.HasPrefix(text, "the ") || strings.HasPrefix(text, "a ") {
		return host + ": " + text
	}
	return host + " " + text
}

// lost says which requests were lost with the memory of a host that failed at an event.
func (t *teller) lost(event int) string {
	var of []int
	for _, p := range t.d.Pieces {
		if p.Event == event && p.Fate == "gone" && !slices.Contains(of, p.Request) {
			of = append(of, p.Request)
		}
	}
	if len(of) == 0 {
		return ""
	}
	return " Its memory is lost, and in it " + t.named(of, nobody) + "."
}

// doubtful says which bytes of persistent memory were not certain to outlive a power failure.
func (t *teller) doubtful(event int) string {
	e := &t.d.Events[event]
	if e.Kind != "power" {
		return ""
	}
	var open []view.Span
	for _, x := range t.d.Doubts {
		if x.Event > event || t.d.Regions[x.Region].Host != e.Host {
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
	var out []string
	for i := 0; i < len(open); {
		first, end := open[i], open[i].Offset+open[i].Length
		for i++; i < len(open) && open[i].Region == first.Region && open[i].Offset == end; i++ {
			end += open[i].Length
		}
		out = append(out, fmt.Sprintf("bytes %d to %d of %s", first.Offset, end-1, cmp.Or(t.d.Regions[first.Region].Name, "its memory")))
	}
	if len(out) == 0 {
		return ""
	}
	return " Not certain to persist: " + list(out) + "."
}
