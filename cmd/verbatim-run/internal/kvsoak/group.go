package kvsoak

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

var (
	memories = []string{"m1", "m2", "m3"}
	cpus     = []string{"cpu1", "cpu2", "cpu3"}
)

// slots is the length of the log of the memory itself.
const slots = 8

// node is a process.
type node struct {
	*process.Process
	killed  bool          // by this soak
	drained chan struct{} // closed when its output ends
}

// group holds the processes, and the last known leader.
type group struct {
	cfg     *Config
	round   int
	nodes   map[string]*node
	changed chan struct{} // holds a token when something below has changed

	mu   sync.Mutex
	at   map[string]string // addresses
	view view
	dead error // a process has exited by itself
}

// view is the latest status printed by the CPU node with the highest term.
type view struct {
	term   int
	by     string // its name
	serves bool
	live   []string // memory nodes
	failed []string
}

func newGroup(cfg *Config) *group {
	return &group{cfg: cfg, nodes: map[string]*node{}, at: map[string]string{}, changed: make(chan struct{}, 1)}
}

// shape are the flags about the store.
func shape() []string {
	s := Store
	return strings.Fields(fmt.Sprintf("--key %d --value %d --index %d --keys %d --log %d --slots %d", s.Key, s.Value, s.Index, s.Blocks, s.Log, slots))
}

// start starts a node: a memory node at its previous address.
func (g *group) start(ctx context.Context, name string) error {
	args := []string{"sift", "cpunode", "--node", strings.TrimPrefix(name, "cpu"), "--period", "20ms", "--missed", "8", "--lease", "60ms", "--back-off", "20ms"}
	listen := g.address(name)
	if slices.Contains(memories, name) {
		args = []string{"sift", "memnode", "--name", name, "--marker", filepath.Join(g.cfg.Dir, name+".marker")}
	} else {
		for _, m := range memories {
			args = append(args, "--memory", m+"="+g.address(m))
		}
		if g.cfg.Cuts {
			args = append(args, "--cuts")
		}
	}
	args = append(append(args, "--listen", listen, "--device", g.cfg.Device, "--ack-timeout", "20ms"), shape()...)
	prog := process.Program{Path: g.cfg.Program, Env: g.cfg.Env, Logs: g.cfg.Dir}
	p, err := prog.Start(name, fmt.Sprint("round ", g.round), args...)
	if err != nil {
		return err
	}
	n := &node{Process: p, drained: make(chan struct{})}
	g.nodes[name] = n
	addr, err := p.Ready(ctx, g.cfg.Patience)
	if err != nil {
		close(n.drained)
		return err
	}
	g.mu.Lock()
	g.at[name] = addr
	g.mu.Unlock()
	go g.listen(name, n)
	return nil
}

// address returns a node's address, or any free one before its first start.
func (g *group) address(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at[name] == "" {
		return "127.0.0.1:0"
	}
	return g.at[name]
}

// resolve finds a node for clients.
func (g *group) resolve(name string) (string, error) { return g.address(name), nil }

// listen records the output of a node, until the node exits.
func (g *group) listen(name string, n *node) {
	defer close(n.drained)
	for line := range n.Lines {
		g.mu.Lock()
		g.view.note(name, line)
		g.mu.Unlock()
		g.signal()
	}
	g.mu.Lock()
	if !n.killed && g.dead == nil {
		g.dead = fmt.Errorf("%w: %s exited by itself; %s", ErrStuck, name, n.LastWords())
	}
	g.mu.Unlock()
	g.signal()
}

func (g *group) signal() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// note records a line printed by a CPU node. It ignores nodes that have been replaced.
func (v *view) note(name, line string) {
	var does string
	var term int
	head, rest, ok := strings.Cut(line, ": memory ")
	if _, err := fmt.Sscanf(head, "%s in term %d", &does, &term); err != nil || !ok {
		if name == v.by { // the node follows now
			v.serves = false
		}
		return
	}
	if term < v.term {
		return
	}
	live, failed, _ := strings.Cut(rest, "; failed ")
	*v = view{term: term, by: name, serves: does == "serves", live: strings.Fields(live), failed: strings.Fields(failed)}
}

// strike kills a node. It does not wait until the node is dead: see [group.bury].
func (g *group) strike(name string) error {
	n := g.nodes[name]
	g.mu.Lock()
	n.killed = true
	if g.view.by == name {
		g.view.serves = false
	}
	g.mu.Unlock()
	return n.Kill()
}

// bury waits until a node is dead.
func (g *group) bury(name string) error {
	n := g.nodes[name]
	<-n.drained
	return n.Bury(func(string) {})
}

// stop suspends a process, or lets it continue.
func (g *group) stop(name string, on bool) error {
	sig := syscall.SIGSTOP
	if !on {
		sig = syscall.SIGCONT
	}
	return g.nodes[name].Cmd.Process.Signal(sig)
}

// cut cuts a CPU node off from a memory node, or heals the link.
func (g *group) cut(cpu, memory string, on bool) error {
	verb := "cut"
	if !on {
		verb = "heal"
	}
	_, err := fmt.Fprintln(g.nodes[cpu].Stdin, verb, memory)
	return err
}

// leader is the CPU node that served last.
func (g *group) leader() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.view.by
}

// until waits until is holds.
func (g *group) until(ctx context.Context, what string, is func() bool) error {
	late := time.NewTimer(g.cfg.Patience)
	defer late.Stop()
	for {
		g.mu.Lock()
		ok, dead, v := is(), g.dead, g.view
		g.mu.Unlock()
		if dead != nil {
			return dead
		}
		if ok {
			return nil
		}
		select {
		case <-g.changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("%w: %v without %s; the last leader is %+v", ErrStuck, g.cfg.Patience, what, v)
		}
	}
}

// whole reports whether a CPU node serves and sees no failed memory node.
func (g *group) whole() bool { return g.view.serves && len(g.view.failed) == 0 }

// joined waits until a memory node that was killed is a member again. It reads the word of the node's present life, since
// the reports of leaders may concern an earlier life. The leader that has written the word makes the node a member at
// once, and then reports it: see [group.whole].
func (g *group) joined(ctx context.Context, h host.Host, name string) error {
	late := time.Now().Add(g.cfg.Patience)
	for {
		ok, err := member(h, name)
		if ok || err != nil {
			return err
		}
		if time.Now().After(late) {
			return fmt.Errorf("%w: %v until %s joins; %s", ErrStuck, g.cfg.Patience, name, g.nodes[name].LastWords())
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// member reports whether a memory node takes part in elections.
func member(h host.Host, name string) (bool, error) {
	n, err := sift.Start(h, sift.Config{Layout: Store.Layout(slots), Node: sift.MaxNode, Memory: []string{name}, Period: time.Second, Missed: 1, BackOff: time.Second, CallTimeout: time.Second})
	if err != nil {
		return false, err
	}
	_, err = n.Watch()
	ok := err == nil
	if errors.Is(err, sift.ErrUnavailable) { // the node is down, or its word is the word of an outsider
		err = nil
	}
	return ok, errors.Join(err, n.Close())
}

// pause waits for a time.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endAll kills the remaining processes.
func (g *group) endAll() {
	for _, name := range append(slices.Clone(memories), cpus...) {
		n := g.nodes[name]
		if n == nil {
			continue
		}
		g.mu.Lock()
		n.killed = true
		g.mu.Unlock()
		if n.Kill() == nil {
			<-n.drained
			_ = n.Bury(func(string) {}) // the process may have exited long ago
		}
	}
}
