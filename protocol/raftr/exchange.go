package raftr

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// A candidate or leader sends its messages as calls to the other nodes, and the answers carry their
// messages. At most one call to each node is in progress; messages that are queued meanwhile are sent with
// the next call. One task at a time does this for all tasks of a node: it drives.

// drive exchanges messages until done, or until nothing more can arrive. Then the error wraps
// [ErrUnavailable].
func (n *Node) drive(done func() bool) error {
	for {
		switch {
		case n.broken != nil:
			return n.broken
		case done():
			return nil
		case n.driving:
			n.await()
			continue
		}
		n.driving = true
		more, err := n.exchange()
		n.driving = false
		n.wake()
		if err != nil {
			return err
		}
		if !more && !done() {
			return fmt.Errorf("%w: %d of %d other nodes are connected", ErrUnavailable, n.linked(), len(n.links)-1)
		}
	}
}

// await waits until something has changed.
func (n *Node) await() {
	n.waiting++
	n.changed.Wait()
	n.waiting--
}

// wake wakes the tasks that wait.
func (n *Node) wake() {
	if n.waiting > 0 {
		n.changed.Broadcast()
	}
}

// exchange sends the waiting messages, and takes one answer. more is false if no call is in progress.
func (n *Node) exchange() (more bool, err error) {
	n.post()
	var clients []*rpc.Client
	var ids []int
	for i, c := range n.links {
		if c != nil {
			clients, ids = append(clients, c), append(ids, i)
		}
	}
	n.mu.Unlock()
	i, call, ok := rpc.Any(n.group, clients)
	var answer []byte
	if ok {
		answer, err = clients[i].Wait(call)
	}
	n.mu.Lock()
	switch {
	case !ok:
		return false, nil
	case err != nil:
		n.unlink(ids[i], err)
		return true, n.settle()
	}
	if err := n.receive(uint64(ids[i]+1), answer); err != nil {
		n.unlink(ids[i], err)
	}
	return true, n.broken
}

// post sends the waiting messages for nodes that have answered the last call.
func (n *Node) post() {
	for i, c := range n.links {
		if c == nil {
			n.out[i] = nil // the messages are lost, as on any network
			continue
		}
		if len(n.out[i]) == 0 || c.Free() == 0 {
			continue
		}
		if _, err := c.Start(n.take(uint64(i + 1))); err != nil {
			n.unlink(i, err)
		}
	}
}

// unlink gives up a connection.
func (n *Node) unlink(i int, why error) {
	n.h.Logf("loses %s: %v", n.cfg.Nodes[i], why)
	if err := n.links[i].Close(); err != nil {
		n.h.Logf("close the connection to %s: %v", n.cfg.Nodes[i], err)
	}
	n.links[i], n.out[i] = nil, nil
	if err := n.protect(func() error { n.raw.ReportUnreachable(uint64(i + 1)); return nil }); err != nil {
		n.h.Logf("%v", err)
	}
}

// Connect connects to the nodes to which there is no connection: for an election, or to send them the entries that
// they lack. That may take Config.CallTimeout for each of them. Other tasks exchange messages meanwhile.
func (n *Node) Connect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.connecting {
		n.await()
	}
	names, at := n.missing()
	if len(names) == 0 {
		return
	}
	n.connecting = true
	n.mu.Unlock()
	links := make([]*rpc.Client, len(names))
	for i := range host.InAnyOrder(n.h, names) {
		var err error
		if links[i], err = rpc.DialIn(n.group, names[i], service, n.cfg.calls(), n.cfg.CallTimeout); err != nil {
			n.h.Logf("does not reach %s: %v", names[i], err)
		}
	}
	n.mu.Lock()
	for i, c := range links {
		n.links[at[i]] = c
	}
	n.connecting = false
	n.wake()
}

// missing returns the names and indices of the other nodes to which there is no connection.
func (n *Node) missing() (names []string, at []int) {
	for i, c := range n.links {
		if c == nil && uint64(i+1) != n.self {
			names, at = append(names, n.cfg.Nodes[i]), append(at, i)
		}
	}
	return names, at
}

// reconnect is Connect in its own task: a leader must not be silent while it waits for a dead node.
func (n *Node) reconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if names, _ := n.missing(); len(names) > 0 && !n.connecting {
		n.h.Go("connect", n.Connect)
	}
}

// Linked returns the number of other nodes to which this node has a connection, as far as it can know.
func (n *Node) Linked() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.linked()
}

func (n *Node) linked() int {
	linked := 0
	for _, c := range n.links {
		if c != nil {
			linked++
		}
	}
	return linked
}
