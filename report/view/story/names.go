package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// short is a request as its host names it.
func short(op string, number int) string { return fmt.Sprintf("%s #%d", op, number) }

// owner is the host that posted a request, and its life unless that is the first: each life counts from 0.
func (t *teller) owner(r *view.Request) string {
	if r.Posted >= 0 && r.Posted < len(t.d.Events) && t.d.Events[r.Posted].Life > 0 {
		return fmt.Sprintf("%s (life %d)", t.d.Hosts[r.Host], t.d.Events[r.Posted].Life)
	}
	return t.d.Hosts[r.Host]
}

// series is some requests of one operation with consecutive numbers, from one life of a host to another host.
type series struct {
	op          string
	first, last int
	host, peer  int
	owner       string
}

func (x *series) name() string {
	switch x.last - x.first {
	case 0:
		return short(x.op, x.first)
	case 1:
		return fmt.Sprintf("%ss #%d and #%d", x.op, x.first, x.last)
	}
	return fmt.Sprintf("%ss #%d–#%d", x.op, x.first, x.last)
}

// goes on reports whether a request is the next of the series.
func (x *series) goesOn(r *view.Request, owner string) bool {
	return x.op == r.Op && x.owner == owner && x.peer == r.Peer && x.last+1 == r.Number
}

// group is some requests, and the hosts to each of which they go.
type group struct{ names, peers []string }

// groups puts together the peers with the same requests, under names with their host unless that is the subject of
// the sentence.
func (t *teller) groups(requests []int, subject int) []group {
	var all []series
	for _, i := range requests {
		r := &t.d.Requests[i]
		if k := slices.IndexFunc(all, func(x series) bool { return x.goesOn(r, t.owner(r)) }); k >= 0 {
			all[k].last++
		} else {
			all = append(all, series{r.Op, r.Number, r.Number, r.Host, r.Peer, t.owner(r)})
		}
	}
	var out []group // one for each name
	for i := range all {
		n, peer := all[i].name(), t.d.Hosts[all[i].peer]
		if all[i].host != subject {
			n += " of " + all[i].owner
		}
		if k := slices.IndexFunc(out, func(g group) bool { return g.names[0] == n }); k >= 0 {
			if !slices.Contains(out[k].peers, peer) { // there may be two queue pairs to it
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

// named names requests: "Writes #0 and #1 of app to peer1 and peer2".
func (t *teller) named(requests []int, subject int) string {
	var out []string
	for _, g := range t.groups(requests, subject) {
		out = append(out, list(g.names)+" to "+list(g.peers))
	}
	return strings.Join(out, "; ")
}

// list joins names as a sentence does.
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
