package lend_test

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// A memory node like Sift's: an administrative word that all candidates reach, and the
// replicated memory, in its own protection domain, that one coordinator reaches at a
// time.

var errWho = errors.New("neither a candidate nor a coordinator")

// serveNode runs a memory node. fence expels the previous coordinator.
func serveNode(h host.Host, fence func(*lend.Loan) error) error {
	admin, err := lendIn(h, 8, verbs.RemoteRead|verbs.RemoteAtomic)
	if err != nil {
		return err
	}
	memory, err := lendIn(h, 64, verbs.RemoteRead|verbs.RemoteWrite)
	if err != nil {
		return err
	}
	return lend.Serve(h, "node", func(v *lend.Visitor) error {
		switch string(v.Said) {
		case "candidate":
			return v.Admit(admin)
		case "coordinator": // the previous one loses its connection first
			if err := fence(memory); err != nil {
				return err
			}
			return v.Admit(memory)
		}
		return errWho
	})
}

// lendIn lends memory in its own protection domain.
func lendIn(h host.Host, size int, access verbs.Access) (*lend.Loan, error) {
	l, err := lend.NewLender(h)
	if err != nil {
		return nil, err
	}
	return l.Lend(size, access)
}

// campaign swaps the administrative word of each node, from the value last seen there,
// and reports whether need of them accepted. seen receives the values found.
func campaign(g *lend.Group, nodes []*lend.Conn, buf *lend.Memory, seen []uint64, word uint64, need int) bool {
	votes := make([]quorum.Vote, len(nodes))
	for i, c := range nodes {
		w := c.Windows[0]
		g.Post(c, []verbs.SendWR{{ID: c.Asked + 1, Op: verbs.OpCompareSwap, Flags: verbs.Signaled, RemoteAddr: w.Addr, RKey: w.RKey,
			Compare: seen[i], Swap: word, SGL: []verbs.SGE{buf.SGE(8*i, 8)}}})
	}
	g.AwaitAll(nodes)
	for i, c := range nodes {
		votes[i] = quorum.No
		if c.Err == nil {
			if found := buf.Region.Load64(8 * i); found == seen[i] {
				votes[i] = quorum.Yes
			} else {
				seen[i] = found
			}
		}
	}
	return quorum.Decide(need, votes) == quorum.Won
}
