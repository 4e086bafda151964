package kv

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// alone is a host with one task.
type alone struct{ host.Host }

type nothing struct{}

func (nothing) Lock()      {}
func (nothing) Unlock()    {}
func (nothing) Wait()      {}
func (nothing) Signal()    {}
func (nothing) Broadcast() {}

func (alone) NewMutex() host.Mutex            { return nothing{} }
func (alone) NewCond(host.Mutex) host.Cond    { return nothing{} }
func (alone) Logf(format string, args ...any) {}

// cluster is what three memory nodes hold, as sift keeps it: one logged memory, and a direct zone on
// each node.
type cluster struct {
	cfg    Config
	memory []byte
	nodes  [3]node
	term   uint16
}

// node is a memory node.
type node struct {
	direct []byte
	missed int // lists of updates since it was last reached
}

// slots is the length of the memory's log: a node that has missed as many lists is copied.
const slots = 2

func newCluster(cfg Config) *cluster {
	c := &cluster{cfg: cfg, memory: make([]byte, cfg.size())}
	for i := range c.nodes {
		c.nodes[i].direct = make([]byte, cfg.directSize())
	}
	return c
}

// leader is the memory as one coordinator has it. It reaches some nodes, and dies after a number of
// calls: the last one may have any effect.
type leader struct {
	*cluster
	t    *rapid.T // nil: it does not die
	term uint16
	live []int
	left int
	dead bool
}

// lead makes a coordinator, which reaches nodes, at least 2, and brings them up to date.
func (c *cluster) lead(t *rapid.T, live []int, left int) *leader {
	c.term++
	for _, i := range live {
		if c.nodes[i].missed < slots {
			continue
		}
		from := slices.IndexFunc(live, func(j int) bool { return c.nodes[j].missed < slots })
		copy(c.nodes[i].direct, c.nodes[live[from]].direct)
	}
	for _, i := range live {
		c.nodes[i].missed = 0
	}
	return &leader{cluster: c, t: t, term: c.term, live: live, left: left}
}

// dies counts a call.
func (l *leader) dies() bool {
	if l.t != nil && !l.dead {
		l.dead = l.left == 0
		l.left--
	}
	return l.dead
}

func (l *leader) Term() uint16 { return l.term }

func (l *leader) Confirm() error {
	if l.dies() {
		return sift.ErrReplaced
	}
	return nil
}

func (l *leader) Read(addr int, p []byte) error {
	copy(p, l.memory[addr:addr+len(p)])
	return l.Confirm()
}

func (l *leader) WriteAll(list []sift.Update) error {
	was := l.dead
	if err := l.Confirm(); err != nil && (was || rapid.Bool().Draw(l.t, "not carried out")) {
		return err
	}
	for _, u := range list {
		copy(l.memory[u.Addr:u.Addr+len(u.Data)], u.Data)
	}
	for i := range l.nodes {
		if !slices.Contains(l.live, i) {
			l.nodes[i].missed++
		}
	}
	if l.dead {
		return sift.ErrReplaced
	}
	return nil
}

func (l *leader) WriteDirect(addr int, data []byte) error {
	was := l.dead
	err := l.Confirm()
	for _, i := range l.live {
		n := len(data)
		if err != nil {
			if n = 8 * rapid.IntRange(0, n/8).Draw(l.t, fmt.Sprint("words at ", i)); was {
				n = 0
			}
		}
		copy(l.nodes[i].direct[addr:addr+n], data[:n])
	}
	return err
}

func (l *leader) Copies(addr, n int) ([][]byte, error) {
	var out [][]byte
	for _, i := range l.live {
		out = append(out, slices.Clone(l.nodes[i].direct[addr:addr+n]))
	}
	return out, l.Confirm()
}

// small is a store in which everything collides.
func small() Config { return Config{Key: 2, Value: 8, Index: 2, Blocks: 3, Log: 2, Cache: 2} }
