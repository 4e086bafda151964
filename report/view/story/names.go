package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// short returns the name that a host has for its request: "Write #3".
func short(op string, number int) string { return fmt.Sprintf("%s #%d", op, number) }

// self is the subject of a sentence: a life of a host.
type self struct{ host, life int }

// owner returns the host that posted a request. It adds the life, except life 0, because each life numbers its requests
// from 0.
func (t *teller) owner(r *view.Request) string {
	if life := t.life(r); life > 0 {
		return fmt.Sprintf("%s (life %d)", t.d.Hosts[r.Host], life)
	}
	return t.d.Hosts[r.Host]
}

// life returns the life that posted a request.
func (t *teller) life(r *view.Request) int {
	if r.Posted >= 0 && r.Posted < len(t.d.Events) {
		return t.d.Events[r.Posted].Life
	}
	return 0
}

// lifeAt returns the life of a host after an event.
func (t *teller) lifeAt(host, event int) int {
	for i := min(event, len(t.d.Events)-1); i >= 0; i-- {
		if e := &t.d.Events[i]; e.Host == host {
			return e.Life
		}
	}
	return 0
}

// series lists requests of one kind, such as Writes, that one life of a host posted to one peer.
type series struct {
	op      string
	numbers []int
	by      self
	peer    int
	owner   string
}

// name returns the name of a series: "Writes #1, #4 and #6–#8".
func (x *series) name() string {
	slices.Sort(x.numbers)
	x.numbers = slices.Compact(x.numbers) // with two queue pairs, each numbers from 0
	if len(x.numbers) == 1 {
		return short(x.op, x.numbers[0])
	}
	var parts []string
	for i := 0; i < len(x.numbers); {
		first, n := x.numbers[i], 1
		for i+n < len(x.numbers) && x.numbers[i+n] == first+n {
			n++
		}
		if n > 2 {
			parts = append(parts, fmt.Sprintf("#%d–#%d", first, first+n-1))
			i += n
		} else {
			parts = append(parts, fmt.Sprintf("#%d", first))
			i++
		}
	}
	return x.op + "s " + list(parts)
}

// has reports whether a request belongs to the series.
func (x *series) has(r *view.Request, owner string) bool {
	return x.op == r.Op && x.owner == owner && x.peer == r.Peer
}

// group lists requests by name, and the peers that got all of them.
type group struct{ names, peers []string }

// groups merges peers that got the same requests. A name includes the host that posted the requests, unless this host is
// the subject of the sentence. If another life of the subject posted them, the name includes that life.
func (t *teller) groups(requests []int, subject self) []group {
	var all []series
	for _, i := range requests {
		r := &t.d.Requests[i]
		if k := slices.IndexFunc(all, func(x series) bool { return x.has(r, t.owner(r)) }); k >= 0 {
			all[k].numbers = append(all[k].numbers, r.Number)
		} else {
			all = append(all, series{r.Op, []int{r.Number}, self{r.Host, t.life(r)}, r.Peer, t.owner(r)})
		}
	}
	var out []group // one for each name
	for i := range all {
		n, peer := all[i].name(), t.d.Hosts[all[i].peer]
		switch x := &all[i]; {
		case x.by.host != subject.host:
			n += " of " + x.owner
		case x.by != subject:
			n += fmt.Sprintf(" of its life %d", x.by.life)
		}
		if k := slices.IndexFunc(out, func(g group) bool { return g.names[0] == n }); k >= 0 {
			if !slices.Contains(out[k].peers, peer) { // a host may have two queue pairs to a peer
				out[k].peers = append(out[k].peers, peer)
			}
		} else {
			out = append(out, group{[]string{n}, []string{peer}})
		}
	}
	for i := 0; i+1 < len(out); {
		if slices.Equal(out[i].peers, out[i+1].peers) {
			out[i].names = append(out[i].names, out[i+1].names...)
			out = slices.Delete(out, i+1, i+2)
		} else {
			i++
		}
	}
	return out
}

// named returns the names and peers of requests: "Writes #0 and #1 of app to peer1 and peer2".
func (t *teller) named(requests []int, subject self) string {
	var out []string
	for _, g := range t.groups(requests, subject) {
		out = append(out, list(g.names)+" to "+list(g.peers))
	}
	return strings.Join(out, "; ")
}

// list joins names with commas and "and".
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
