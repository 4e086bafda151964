package story

import (
	"slices"
	"strings"
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
			t.out[len(t.out)-1].Key = e.Marked
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

// lost says which requests were lost with the memory of a host that failed at an event: those that clients may count
// on, and those that nobody had looked for.
func (t *teller) lost(event int) string {
	var of []int
	for _, p := range t.d.Pieces {
		if p.Request < 0 || slices.Contains(of, p.Request) || !changes(&t.d.Requests[p.Request]) {
			continue
		}
		if p.Event == event && p.Fate == "gone" || p.Fate == "landed" && t.seen[p.Request] && t.d.Regions[p.Region].Gone == event {
			of = append(of, p.Request)
		}
	}
	if len(of) == 0 {
		return ""
	}
	slices.Sort(of)
	return " Its memory is lost, and in it " + t.named(of, nobody) + "."
}
