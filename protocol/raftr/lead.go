package raftr

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/raft/v3"
)

// Outcome is the outcome of an election.
type Outcome uint8

// The node leads; it follows, because others refused it or another node leads; or too few answered.
const (
	Won Outcome = iota + 1
	Lost
	Split
)

func (o Outcome) String() string {
	switch o {
	case Won:
		return "won"
	case Lost:
		return "lost"
	case Split:
		return "split"
	}
	return fmt.Sprint("outcome ", uint8(o))
}

// Watch reports whether the node should stand for election: it does not lead, and has received nothing
// from a leader for Config.Election.
func (n *Node) Watch() (vacant bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.broken != nil {
		return false, n.broken
	}
	leads := n.raw.BasicStatus().RaftState == raft.StateLeader
	return !leads && (!n.following || n.h.Now()-n.heard >= n.cfg.Election), nil
}

// Campaign stands for election for the next term, and asks the connected nodes for their votes. A node that must still respect a leader's lease
// does not stand, and loses. The winner calls [Node.Lead].
func (n *Node) Campaign() (Outcome, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.broken != nil {
		return 0, n.broken
	}
	if n.promised() {
		return Lost, nil
	}
	if n.store.last() >= uint64(n.cfg.Log) { // a leader begins with an entry
		return 0, fmt.Errorf("%w: %d entries", ErrFull, n.store.last())
	}
	if err := n.protect(n.raw.Campaign); err != nil {
		return 0, err
	}
	if err := n.settle(); err != nil {
		return 0, err
	}
	state := func() raft.StateType { return n.raw.BasicStatus().RaftState }
	err := n.drive(func() bool { return state() != raft.StateCandidate })
	switch {
	case n.broken != nil:
		return 0, n.broken
	case err != nil:
		n.h.Logf("%v", err)
		return Split, nil
	case state() == raft.StateLeader:
		return Won, nil
	}
	return Lost, nil
}

// Lead prepares the winner of an election to serve: it commits an entry of its own term, and with it
// everything that earlier leaders have acknowledged (Raft, sections 5.4.2 and 8).
func (n *Node) Lead() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.broken != nil {
		return n.broken
	}
	term := n.raw.BasicStatus().GetTerm()
	if err := n.drive(func() bool { return n.serving || !n.leads(term) }); err != nil {
		return err
	}
	if !n.leads(term) {
		return n.notLeader()
	}
	return nil
}

// leads reports whether the node is the leader of a term.
func (n *Node) leads(term uint64) bool {
	s := n.raw.BasicStatus()
	return s.RaftState == raft.StateLeader && s.GetTerm() == term
}

func (n *Node) notLeader() error {
	return fmt.Errorf("%w: this node believes that %q leads", ErrNotLeader, n.leader())
}

// serves returns the term in which the node leads, if it may serve.
func (n *Node) serves() (term uint64, err error) {
	if n.broken != nil {
		return 0, n.broken
	}
	if !n.serving {
		return 0, n.notLeader()
	}
	return n.raw.BasicStatus().GetTerm(), nil
}

// Beat checks whether this node still leads, and sends the others the entries that they lack. It is
// also the heartbeat of the leader.
func (n *Node) Beat() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.confirm()
}

// confirm finds out whether this node still leads, by a heartbeat that a majority answers (Raft,
// section 8): the ReadIndex of the library. It renews the lease.
func (n *Node) confirm() error {
	term, err := n.serves()
	if err != nil {
		return err
	}
	n.asked++
	mine := n.asked
	began := n.h.Now()
	err = n.protect(func() error { n.raw.ReadIndex(binary.BigEndian.AppendUint64(nil, mine)); return nil })
	if err == nil {
		err = n.settle()
	}
	if err == nil {
		err = n.drive(func() bool { return !n.leads(term) || n.confirmed >= mine })
	}
	switch {
	case err != nil:
		return err
	case !n.leads(term):
		return n.notLeader()
	}
	if end := began + n.cfg.Lease; n.cfg.Lease > 0 && (!n.leased || end > n.lease) {
		n.leased, n.lease = true, end
	}
	return nil
}

// Get returns the value of a key, and whether there is one. Only the leader answers, from its own
// replica (6.3.1). The error wraps [ErrNotLeader] or [ErrUnavailable].
func (n *Node) Get(key string) (string, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := n.serves(); err != nil {
		return "", false, err
	}
	if !n.leased || n.h.Now() >= n.lease {
		if err := n.confirm(); err != nil {
			return "", false, err
		}
	}
	v, ok := n.machine.get(key)
	return v, ok, nil
}

// Put writes a value, and returns when a majority has the write, including this node (6.3.1). If the error
// wraps [ErrUnknown], the write may have been carried out or may be carried out later; after any other error it
// will not be.
func (n *Node) Put(key, value string) error {
	_, err := n.Propose(Write{Key: key, Value: value})
	return err
}

// Write is a write, with or without a session. The writes of a session are numbered from 1; a write
// that is repeated is executed once.
type Write struct {
	Session, Number uint64
	Key, Value      string
}

// Propose is Put for a write of a session, and returns the index of its entry.
func (n *Node) Propose(w Write) (uint64, error) {
	x := command{op: opPut, session: w.Session, seq: w.Number, key: w.Key, value: w.Value}
	if err := n.cfg.checkPut(&x); err != nil {
		return 0, err
	}
	if (w.Session == 0) != (w.Number == 0) {
		return 0, fmt.Errorf("%w: write %d of session %d", ErrSession, w.Number, w.Session)
	}
	return n.propose(&x)
}

// Open opens a session and returns its number. An unused session does no harm.
func (n *Node) Open() (uint64, error) { return n.propose(&command{op: opOpen}) }

// propose appends a command to the log, and returns when it is carried out.
func (n *Node) propose(x *command) (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	term, err := n.serves()
	if err != nil {
		return 0, err
	}
	if n.store.last()+1 >= uint64(n.cfg.Log) { // the last slot is for the entry of the next leader
		return 0, fmt.Errorf("%w: %d entries", ErrFull, n.store.last())
	}
	index, f := n.store.last()+1, &fate{term: term}
	if err := n.protect(func() error { return n.raw.Propose(x.encode()) }); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	n.fates[index] = f
	defer n.forget(index, f)
	err = n.settle()
	if err == nil {
		err = n.drive(func() bool { return f.over || !n.leads(term) })
	}
	switch {
	case err != nil:
		return index, fmt.Errorf("%w: %w", ErrUnknown, err)
	case !f.over:
		return index, fmt.Errorf("%w: %w", ErrUnknown, n.notLeader())
	case !f.mine:
		return index, fmt.Errorf("%w: another entry was committed in its place", ErrNotLeader)
	case !f.known:
		return index, fmt.Errorf("%w: %d", ErrSession, x.session)
	}
	return index, nil
}

// forget forgets the fate of a write, but keeps the fate of a later write at its index: this leader may have been
// replaced, and may lead again.
func (n *Node) forget(index uint64, f *fate) {
	if n.fates[index] == f {
		delete(n.fates, index)
	}
}
