package story

import (
	"fmt"
	"slices"
	"strings"
)

// operations says what clients asked for, what they got, and what had become by then of the requests that they made
// for it.
func (t *teller) operations() {
	for _, o := range t.d.Operations {
		host := slices.Index(t.d.Hosts, strings.Split(o.Client, ",")[0])
		if o.End < 0 {
			t.say(t.last(o.Begin), "%s asks for “%s”, and gets no result in this run.", who(o.Client), brief(o.Call))
			continue
		}
		t.key(t.last(o.End), "%s asked for “%s” and gets “%s”.%s%s", who(o.Client), brief(o.Call), brief(o.Result),
			t.progress(host, o.Begin, o.End), t.inDoubt(o.End))
	}
}

// who is a client without the life in which it is the first.
func who(client string) string { return strings.TrimSuffix(client, ", life 0") }

// progress says what had become of the changes that a host posted between two steps by the second.
func (t *teller) progress(host, begin, end int) (text string) {
	var done, failed, there, missing []int
	for i := range t.d.Requests {
		r := &t.d.Requests[i]
		if at := t.step(r.Posted); r.Host != host || !changes(r) || at < begin || at > end {
			continue
		}
		t.seen[i] = true
		switch {
		case r.Done >= 0 && t.step(r.Done) <= end && r.Status == "SUCCESS":
			done = append(done, i)
		case r.Done >= 0 && t.step(r.Done) <= end:
			failed = append(failed, i)
		case !r.Signaled && t.arrived(i, end):
			there = append(there, i)
		default:
			missing = append(missing, i)
		}
	}
	for _, x := range []struct {
		what string
		of   []int
	}{{"Completed by then", done}, {"In memory by then", there}, {"Failed", failed}, {"Not completed", missing}} {
		if len(x.of) > 0 {
			text += fmt.Sprintf(" %s: %s.", x.what, t.named(x.of, host))
		}
	}
	return text
}

// arrived reports whether all of a request was in memory by a step.
func (t *teller) arrived(request, step int) bool {
	r, n := &t.d.Requests[request], 0
	for i := range t.d.Pieces {
		if p := &t.d.Pieces[i]; p.Request == request && p.Fate == "landed" && t.step(p.Event) <= step {
			n += p.Length
		}
	}
	return n >= r.Length
}

// inDoubt says which bytes of persistent memory a power failure could still have taken after a step.
func (t *teller) inDoubt(step int) string {
	var out []string
	for h := range t.d.Hosts {
		if text := t.places(t.open(h, t.last(step))); text != "" {
			out = append(out, text+" of "+t.d.Hosts[h])
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " Not certain to persist by then: " + list(out) + "."
}

// fewest is how many times something must be repeated for brief to count it.
const fewest = 8

// brief is a text in which a character, or the escape of a byte, that is repeated often is shown once, with a number.
func brief(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		unit := unitOf(text)
		n := 1
		for strings.HasPrefix(text[n*len(unit):], unit) {
			n++
		}
		if n < fewest {
			n = 1
			out.WriteString(unit)
		} else {
			fmt.Fprintf(&out, "%s×%d", unit, n)
		}
		text = text[n*len(unit):]
	}
	return out.String()
}

// unitOf is the first character of a text, or its first escape such as \x00.
func unitOf(text string) string {
	if strings.HasPrefix(text, `\x`) && len(text) >= 4 {
		return text[:4]
	}
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}
