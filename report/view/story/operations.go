package story

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// operations adds a sentence for each operation of a client: its call, its result, and the state of its requests when
// the result came.
func (t *teller) operations() {
	for i := range t.d.Operations {
		o := &t.d.Operations[i]
		if o.End < 0 {
			t.say(t.last(o.Begin), "%s asks for “%s”, and gets no result in this run.", who(o.Client), brief(o.Call))
			continue
		}
		t.key(t.last(o.End), "%s asked for “%s” and gets “%s”.%s%s", who(o.Client), brief(o.Call), brief(o.Result),
			t.progress(o), t.inDoubt(o.End))
	}
}

// who returns the name of a client, without its life if this is life 0.
func who(client string) string { return strings.TrimSuffix(client, ", life 0") }

// progress returns sentences about the requests that a client posted for an operation: which had completed at its end,
// were in memory, had failed, or were still open. A client is a host, or one life of a host, because an earlier life may
// still run during the next. A request that is posted in the last step belongs to the client's next operation if this
// operation begins in the same step.
func (t *teller) progress(o *view.Operation) (text string) {
	name, of, one := strings.Cut(o.Client, ", life ")
	host := slices.Index(t.d.Hosts, name)
	life, err := strconv.Atoi(of)
	one = one && err == nil
	begin, end, last := o.Begin, o.End, o.End
	if begin < end && slices.ContainsFunc(t.d.Operations, func(x view.Operation) bool {
		return x.Client == o.Client && x.Begin == end && (x.End < 0 || x.End > end)
	}) {
		last--
	}
	var done, failed, there, missing []int
	for i := range t.d.Requests {
		r := &t.d.Requests[i]
		if at := t.step(r.Posted); r.Host != host || one && t.life(r) != life || !changes(r) || at < begin || at > last {
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
			text += fmt.Sprintf(" %s: %s.", x.what, t.named(x.of, self{host, t.life(&t.d.Requests[x.of[0]])}))
		}
	}
	return text
}

// arrived reports whether all bytes of a request were in memory by the end of a step.
func (t *teller) arrived(request, step int) bool {
	r, n := &t.d.Requests[request], 0
	for i := range t.d.Pieces {
		if p := &t.d.Pieces[i]; p.Request == request && p.Fate == "landed" && t.step(p.Event) <= step {
			n += p.Length
		}
	}
	return n >= r.Length
}

// inDoubt returns a sentence about the bytes of persistent memory that a power failure after a step could still take.
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

// fewest is the least number of repetitions for which brief writes a count.
const fewest = 8

// brief shortens a text: it writes a repeated character, or a repeated escape such as \x00, once with a count.
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

// unitOf returns the first character of a text, or an escape such as \x00 at its beginning.
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
