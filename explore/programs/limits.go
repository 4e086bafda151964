package programs

import (
	"slices"
	"strings"
)

// Programs that are not compared, because of a known limit in docs/semantics.md.

// inVain reports whether, in an outcome, a host polls and finds nothing more often than late resolution lets a
// task do while a completion is visible. Verdicts state this limit (explore.Report.VainPolls).
func inVain(outcome string) bool {
	return slices.ContainsFunc(strings.Split(outcome, ":"), func(h string) bool { return strings.Count(h, "none") > maxVain })
}

const maxVain = 3

// reportsPosts reports whether a task posts several requests in a row and reports right after the
// last of them. That is one step, so its report through History precedes the reports of others about
// the first request; in the eager machine it need not.
func (p *Program) reportsPosts() bool {
	return slices.ContainsFunc(p.Hosts, func(h Host) bool { return slices.ContainsFunc(h.Lives, p.postsLast) })
}

func (p *Program) postsLast(acts []Act) bool {
	n := 0
	for i := range acts {
		a := &acts[i]
		switch {
		case p.postsLast(a.Body):
			return true
		case a.Do == "say" && n > 1:
			return true
		case a.Do == "end" && n > 1:
			return true
		case table[a.Do].sends:
			n += p.peers(a.To)
		case a.Do == "visit":
			eachAct(a.Body, func(b *Act) {
				if table[b.Do].sends {
					n += p.peers(a.To)
				}
			})
		case a.If == 0 && slices.Contains(lettingGo, a.Do):
			n = 0
		}
	}
	return n > 1
}

// lettingGo are acts before or in which others always run.
var lettingGo = []string{"wait", "twait", "poll", "each", "teach", "chan", "tchan", "call", "tcall", "accept", "taccept", "gather",
	"sleep", "load", "loadwide", "pload", "state", "err", "reset", "dereg"}

// peers returns the number of hosts with a name.
func (p *Program) peers(to string) (n int) {
	for name := range strings.SplitSeq(to, "+") {
		n++
		for i := range p.Hosts {
			if h := &p.Hosts[i]; h.Name == name {
				n += max(h.Copies-1, 0)
			}
		}
	}
	return n
}
