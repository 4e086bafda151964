package raftr

import (
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
)

// The library trusts its peers: it panics on some messages that no correct node sends. guard lets only those messages
// through that a correct node could have sent, as far as this node can know.

// guard returns an error that wraps [ErrMalformed] for a message that no correct node sends.
func (n *Node) guard(m *pb.Message) error {
	if m.GetTerm() == 0 {
		return malformed(m, "has no term")
	}
	s := n.raw.BasicStatus()
	current := m.GetTerm() == s.GetTerm()
	switch m.GetType() {
	case pb.MsgVote:
		if !position(m) {
			return malformed(m, "claims an impossible log")
		}
	case pb.MsgApp, pb.MsgHeartbeat:
		switch {
		case current && s.RaftState == raft.StateLeader:
			return malformed(m, "comes from a second leader")
		case current && s.Lead != raft.None && s.Lead != m.GetFrom():
			return malformed(m, "comes from a second leader")
		case m.GetType() == pb.MsgHeartbeat && m.GetTerm() >= s.GetTerm() && m.GetCommit() > n.store.last():
			return malformed(m, "commits entries that this node does not have")
		}
		return n.guardEntries(m)
	case pb.MsgAppResp:
		if current && s.RaftState == raft.StateLeader && (m.GetIndex() > n.store.last() || m.GetRejectHint() > n.store.last()) {
			return malformed(m, "refers to entries that this leader does not have")
		}
	case pb.MsgHeartbeatResp:
		if current && s.RaftState == raft.StateLeader && confirms(m) > n.asked {
			return malformed(m, "confirms reads that no task has requested")
		}
	}
	return nil
}

// guardEntries checks the entries of a MsgApp.
func (n *Node) guardEntries(m *pb.Message) error {
	if m.GetType() != pb.MsgApp {
		return nil
	}
	if !position(m) {
		return malformed(m, "follows an impossible log")
	}
	if m.GetIndex()+uint64(len(m.GetEntries())) > uint64(n.cfg.Log) {
		return malformed(m, "has more entries than a log holds")
	}
	term := m.GetLogTerm()
	for _, e := range m.GetEntries() {
		if e.GetTerm() < max(term, 1) || e.GetTerm() > m.GetTerm() {
			return malformed(m, "has entries of impossible terms")
		}
		if err := n.cfg.checkEntry(e.GetData()); err != nil {
			return malformed(m, err.Error())
		}
		term = e.GetTerm()
	}
	return nil
}

// position reports whether a log may end, or an entry be, at the position in m.
func position(m *pb.Message) bool {
	return (m.GetIndex() == 0) == (m.GetLogTerm() == 0) && m.GetLogTerm() <= m.GetTerm()
}

// checkEntry checks the data of an entry: nothing, or a command that changes the store.
func (c *Config) checkEntry(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	x, err := decodeCommand(data)
	if err == nil && x.op == opGet {
		err = fmt.Errorf("%w: a read in the log", ErrMalformed)
	}
	if err == nil && x.op == opPut {
		err = c.checkPut(x)
	}
	return err
}

// checkPut checks the sizes of a write.
func (c *Config) checkPut(x *command) error {
	if len(x.key) == 0 || len(x.key) > MaxKey || len(x.value) > c.Value {
		return fmt.Errorf("%w: a key of %d and a value of %d bytes: 1 to %d, and up to %d", ErrTooLong, len(x.key), len(x.value), MaxKey, c.Value)
	}
	return nil
}

func malformed(m *pb.Message, why string) error {
	return fmt.Errorf("%w: %v of term %d, index %d, from node %d %s", ErrMalformed, m.GetType(), m.GetTerm(), m.GetIndex(), m.GetFrom(), why)
}
