package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// draft is a sentence of a story before joined merges it with others.
type draft struct {
	view.Sentence
	event int      // the sentence follows this event
	head  string   // the text before the hosts, if the sentence ends with names of hosts
	hosts []string // these names
}

// teller writes the story of one run.
type teller struct {
	d    *view.Document
	out  []draft
	seen map[int]bool // requests that a sentence about an operation names
}

// Tell returns the story of a run, in the order of its steps.
func Tell(d *view.Document) []view.Sentence {
	t := &teller{d: d, seen: map[int]bool{}}
	t.operations()
	t.others()
	t.lives()
	t.reads()
	t.fates()
	t.leftByPower()
	t.failures()
	if v := d.Violation; v != nil {
		t.key(len(d.Events)-1, "%s", t.sentence(v.Message))
	}
	slices.SortStableFunc(t.out, func(a, b draft) int { return cmp.Compare(a.event, b.event) })
	out := []view.Sentence{}
	for _, s := range joined(t.out) {
		out = append(out, s.Sentence)
	}
	return out
}

// joined merges consecutive sentences that are close in steps and differ only in the hosts at their ends.
func joined(all []draft) []draft {
	var out []draft
	last := 0 // the step of the sentence before
	for _, s := range all {
		near := s.Step-last <= 2
		last = s.Step
		if n := len(out); n > 0 && near && s.head != "" && out[n-1].head == s.head {
			x := &out[n-1]
			for _, h := range s.hosts {
				if !slices.Contains(x.hosts, h) {
					x.hosts = append(x.hosts, h)
				}
			}
			x.Text, x.Key = x.head+" "+list(x.hosts)+".", x.Key || s.Key
			continue
		}
		out = append(out, s)
	}
	return out
}

// sayOf adds a sentence that ends with names of hosts.
func (t *teller) sayOf(event int, hosts []string, format string, args ...any) {
	head := fmt.Sprintf(format, args...)
	t.say(event, "%s %s.", head, list(hosts))
	x := &t.out[len(t.out)-1]
	x.head, x.hosts = head, hosts
}

// say adds a sentence after an event.
func (t *teller) say(event int, format string, args ...any) {
	event = max(0, min(event, len(t.d.Events)-1))
	s := draft{Sentence: view.Sentence{Text: fmt.Sprintf(format, args...)}, event: event}
	if len(t.d.Events) > 0 {
		s.Step = t.d.Events[event].Step
	}
	t.out = append(t.out, s)
}

// key adds a key sentence: a reader needs it to see what went wrong.
func (t *teller) key(event int, format string, args ...any) {
	t.say(event, format, args...)
	t.out[len(t.out)-1].Key = true
}

// others adds sentences about events that belong to no operation of a client: posts of requests that change memory,
// calls, and calls without an answer.
func (t *teller) others() {
	var posts []int
	var calls []string
	for i := range t.d.Events {
		e := &t.d.Events[i]
		if e.Host < 0 {
			continue
		}
		next := i+1 < len(t.d.Events) && t.d.Events[i+1].Step == e.Step && t.d.Events[i+1].Kind == e.Kind && t.d.Events[i+1].Host == e.Host
		switch {
		case e.Kind == "post" && e.Request >= 0 && changes(&t.d.Requests[e.Request]) && !t.seen[e.Request]:
			posts = append(posts, e.Request)
		case e.Kind == "call" && e.Peer >= 0:
			calls = append(calls, t.d.Hosts[e.Peer])
		}
		if len(posts) > 0 && !next {
			t.posts(i, e.Host, posts)
			posts = nil
		}
		if len(calls) > 0 && !next {
			t.sayOf(i, calls, "%s calls", t.d.Hosts[e.Host])
			calls = nil
		}
		if e.Kind == "service" && len(t.d.Requests) == 0 && e.Source >= 0 {
			t.sayOf(i, []string{t.d.Sources[e.Source].Name}, "%s %s, at", t.d.Hosts[e.Host], e.Text) // no other sentence describes this host
		}
		if e.Kind == "unreachable" {
			t.say(i, "%s %s.", t.d.Hosts[e.Host], e.Text)
		}
	}
}

// posts adds a sentence about the requests that a host posts in a step.
func (t *teller) posts(event, host int, requests []int) {
	by := self{host, t.d.Events[event].Life}
	if of := t.groups(requests, by); len(of) == 1 {
		t.sayOf(event, of[0].peers, "%s posts %s to", t.d.Hosts[host], list(of[0].names))
		return
	}
	t.say(event, "%s posts %s.", t.d.Hosts[host], t.named(requests, by))
}

// last returns the last event up to a step.
func (t *teller) last(step int) int {
	n, _ := slices.BinarySearchFunc(t.d.Events, step+1, func(e view.Event, step int) int { return cmp.Compare(e.Step, step) })
	return n - 1
}

func (t *teller) step(event int) int {
	if event < 0 || len(t.d.Events) == 0 {
		return -1
	}
	return t.d.Events[min(event, len(t.d.Events)-1)].Step
}

// changes reports whether a request changes memory of its peer.
func changes(r *view.Request) bool {
	return strings.HasPrefix(r.Op, "Write") || isAtomic(r) || strings.HasPrefix(r.Op, "Send")
}

func isAtomic(r *view.Request) bool {
	return strings.HasPrefix(r.Op, "CompareSwap") || strings.HasPrefix(r.Op, "FetchAdd") || r.Op == "AtomicWrite"
}

// failures adds a sentence for each request that completes with an error. It leaves out flushed requests.
func (t *teller) failures() {
	for i := range t.d.Events {
		e := &t.d.Events[i]
		if e.Kind != "completion" || e.Request < 0 || e.Host < 0 {
			continue
		}
		if r := &t.d.Requests[e.Request]; r.Done == i && r.Status != "SUCCESS" && r.Status != "WR_FLUSH_ERR" {
			t.say(i, "%s learns that its %s failed: %s.", t.d.Hosts[r.Host], t.named([]int{e.Request}, self{r.Host, e.Life}), r.Status)
		}
	}
}

// sentence adds a full stop to a text, and makes its first letter a capital. It keeps the first letter if the text begins
// with the name of a host, or with a name that contains more than letters, such as a.log.
func (t *teller) sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return text
	}
	first, _, _ := strings.Cut(text, " ")
	if !slices.Contains(t.d.Hosts, first) && !strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }) {
		r = unicode.ToUpper(r)
	}
	return string(r) + strings.TrimRight(text[n:], ". \n") + "."
}
