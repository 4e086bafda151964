package sift

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Node is a CPU node: a follower that may become the coordinator (3.2). It keeps no
// state that must survive a failure.
//
// Only one task may use it at a time.
type Node struct {
	h      host.Host
	cfg    Config
	dialer dialer
	words  *lend.Memory // 8 bytes for each memory node: what the last Read or CompareSwap found
	nodes  []peer       // in the order of Config.Memory
	term   uint16       // the latest that it has seen or stood for
	stood  uint16       // for which it stood last; it may have seen a later one since
	misses int
}

// peer is a memory node as a CPU node knows it.
type peer struct {
	conn *lend.Conn // to the administrative word; nil: none
	seen Word       // the word when it was last looked at
	// known: seen is what the last look found, and nothing has failed since.
	known bool
}

// Start starts a CPU node, a follower.
func Start(h host.Host, cfg Config) (*Node, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.QueueDepth = cmp.Or(cfg.QueueDepth, DefaultQueueDepth)
	g, err := lend.NewGroup(h)
	if err != nil {
		return nil, fmt.Errorf("sift: start: %w", err)
	}
	n := &Node{h: h, cfg: cfg, nodes: make([]peer, len(cfg.Memory))}
	n.dialer = dialer{h: h, cfg: &n.cfg, group: g, say: request{door: adminDoor, node: cfg.Node, layout: cfg.print()}, size: 8}
	if n.words, err = g.Register(8 * len(cfg.Memory)); err != nil {
		return nil, errors.Join(fmt.Errorf("sift: start: %w", err), g.Close())
	}
	return n, nil
}

// Close releases the resources of the node, which must no longer be the coordinator.
func (n *Node) Close() error {
	var conns []*lend.Conn
	for i := range n.nodes {
		if c := n.nodes[i].conn; c != nil {
			conns = append(conns, c)
		}
	}
	g := n.dialer.group
	return errors.Join(g.Drop(conns...), n.words.Free(), g.Close())
}

// Term is the term for which the node has stood last.
func (n *Node) Term() uint16 { return n.stood }

// Outsiders names the memory nodes that have restarted and are no longer members, as far
// as this node has seen.
func (n *Node) Outsiders() (out []string) {
	for i, p := range n.nodes {
		if p.seen == outsider {
			out = append(out, n.cfg.Memory[i])
		}
	}
	return out
}

// connect connects to the memory nodes to which there is no connection.
func (n *Node) connect() error {
	var lost []*lend.Conn
	var missing []string
	var at []int
	for i := range n.nodes {
		p := &n.nodes[i]
		if p.conn != nil && p.conn.Err != nil {
			lost = append(lost, p.conn)
			p.conn, p.known = nil, false
		}
		if p.conn == nil {
			missing, at = append(missing, n.cfg.Memory[i]), append(at, i)
		}
	}
	if err := n.dialer.group.Drop(lost...); err != nil || len(missing) == 0 {
		return err
	}
	conns, err := n.dialer.dial(missing)
	for i := range conns {
		n.nodes[at[i]].conn = conns[i]
	}
	return err
}

// onWords posts a request for the word of each memory node for which wr makes one, and
// calls found with the words that it has read.
func (n *Node) onWords(wr func(p *peer) (verbs.SendWR, bool), found func(p *peer, w Word)) {
	g := n.dialer.group
	var asked []*lend.Conn
	var at []int
	for i := range n.nodes {
		p := &n.nodes[i]
		if p.conn == nil || p.conn.Err != nil {
			continue
		}
		r, ok := wr(p)
		if !ok {
			continue
		}
		w := p.conn.Windows[0]
		r.ID, r.Flags, r.RemoteAddr, r.RKey = p.conn.Asked+1, verbs.Signaled, w.Addr, w.RKey
		r.SGL = []verbs.SGE{n.words.SGE(8*i, 8)}
		if g.Post(p.conn, []verbs.SendWR{r}) {
			asked, at = append(asked, p.conn), append(at, i)
		}
	}
	g.AwaitAll(asked)
	for _, i := range at {
		if p := &n.nodes[i]; p.conn.Err == nil {
			found(p, Word(n.words.Region.Load64(8*i)))
		} else {
			p.known = false
		}
	}
}

// onWord posts a request for the word of one memory node, and calls found with the word that it has read.
func (n *Node) onWord(p *peer, wr verbs.SendWR, found func(w Word)) {
	n.onWords(func(q *peer) (verbs.SendWR, bool) { return wr, p == q }, func(_ *peer, w Word) { found(w) })
}

// peer returns the memory node called name, which is one of the configuration.
func (n *Node) peer(name string) *peer { return &n.nodes[slices.Index(n.cfg.Memory, name)] }

// sees records a word that the node has read.
func (n *Node) sees(p *peer, w Word) {
	p.seen, p.known = w, true
	if w != outsider {
		n.term = max(n.term, w.Term())
	}
}

// reached counts the members of the group whose words are known.
func (n *Node) reached() int {
	return quorum.Count(n.nodes, func(p peer) bool { return p.known && p.seen != outsider })
}
