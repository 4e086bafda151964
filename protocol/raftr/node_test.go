package raftr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// meanwhile is a condition that runs something while a task waits for it.
type meanwhile struct {
	host.Cond
	do func()
}

func (m meanwhile) Wait()    { m.do() }
func (meanwhile) Broadcast() {}

// A task whose leader was replaced must not take away the fate of a later write at the same index: that would be
// carried out and never acknowledged.
func TestAWriteThatWasReplacedLeavesTheNextOneAlone(t *testing.T) {
	n := start(t, "n1")
	n.lead(t)
	if _, err := n.Step("n2", encode(&pb.Message{Type: pb.MsgAppResp.Enum(), Term: u(1), Index: u(1)})); err != nil || !n.serving {
		t.Fatal(err, n.serving)
	}
	later := &fate{term: 9}
	n.driving = true // another task exchanges messages
	n.changed = meanwhile{do: func() {
		n.driving = false
		if _, err := n.Step("n2", encode(&pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(2)})); err != nil {
			t.Fatal(err)
		}
		n.fates[2] = later // a write of a later term of this node
	}}
	if err := n.Put("k", "v"); !errors.Is(err, ErrUnknown) {
		t.Errorf("the write that was replaced: %v", err)
	}
	if n.fates[2] != later {
		t.Error("the later write has lost its fate")
	}
}

// A leader with much to send to a slow node is replaced. What it has not sent must not keep its vote from a candidate.
func TestAVoteIsNotQueuedBehindTheMessagesOfAnEarlierTerm(t *testing.T) {
	n := start(t, "n1")
	n.lead(t)
	old := &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), To: u(2)}
	for range 4 {
		old.Entries = append(old.Entries, &pb.Entry{Term: u(1), Data: bytes.Repeat([]byte("x"), n.cfg.maxCommand())})
	}
	for range 10 {
		n.out[1] = append(n.out[1], old)
	}
	b, err := n.Step("n2", encode(&pb.Message{Type: pb.MsgVote.Enum(), Term: u(2), LogTerm: u(1), Index: u(9)}))
	if err != nil {
		t.Fatal(err)
	}
	answers, err := n.cfg.decodeMessages(b)
	if err != nil || len(answers) != 1 || answers[0].GetType() != pb.MsgVoteResp || answers[0].GetReject() {
		t.Errorf("the candidate hears %v, %v", answers, err)
	}
	if len(n.out[1]) != 0 {
		t.Errorf("%d messages are left", len(n.out[1]))
	}
}

// A configuration that the caller changes afterwards changes no node.
func TestANodeKeepsItsConfiguration(t *testing.T) {
	cfg := config()
	n, err := Start(alone{name: "n1"}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Nodes[1] = "stranger"
	if _, err := n.Step("n2", nil); err != nil {
		t.Error(err)
	}
}

// A leader asks a node that does not answer again and again. What waits for it does not grow.
func TestHeartbeatsThatWaitDoNotGrow(t *testing.T) {
	n := start(t, "n1")
	n.lead(t)
	if _, err := n.Step("n2", encode(&pb.Message{Type: pb.MsgAppResp.Enum(), Term: u(1), Index: u(1)})); err != nil || !n.serving {
		t.Fatal(err, n.serving)
	}
	for i := range 100 {
		n.asked++
		n.raw.ReadIndex(binary.BigEndian.AppendUint64(nil, uint64(i+1)))
		if err := n.settle(); err != nil {
			t.Fatal(err)
		}
	}
	if len(n.out[2]) > 5 || confirms(n.out[2][len(n.out[2])-1]) != 100 {
		t.Errorf("%d messages wait: %v", len(n.out[2]), n.out[2])
	}
	if _, err := n.Step("n3", encode(&pb.Message{Type: pb.MsgHeartbeatResp.Enum(), Term: u(1), Context: n.out[2][len(n.out[2])-1].GetContext()})); err != nil || n.confirmed != 100 {
		t.Errorf("the last one confirms %d reads, %v", n.confirmed, err)
	}
}

// A group of one node serves alone, without a message.
func TestAGroupOfOneServes(t *testing.T) {
	n, err := Start(alone{name: "n1"}, Config{Nodes: []string{"n1"}, New: true, Log: 3, Value: 8, Election: time.Second, CallTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := n.Campaign(); o != Won || err != nil {
		t.Fatal(o, err)
	}
	if err := errors.Join(n.Lead(), n.Put("k", "v"), n.Beat()); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := n.Get("k"); v != "v" || !ok || err != nil {
		t.Errorf("%q, %v, %v", v, ok, err)
	}
	if err := n.Put("k", "w"); !errors.Is(err, ErrFull) {
		t.Errorf("the last place is for the next leader's entry: %v", err)
	}
	if n.raw.BasicStatus().RaftState != raft.StateLeader || n.Term() != 1 || n.Leader() != "n1" {
		t.Errorf("%v", n.raw.BasicStatus())
	}
}

// The largest message that the library makes fits in a call. One that does not would be in the way forever.
func TestTheLargestMessageFitsInACall(t *testing.T) {
	for _, value := range []int{1, DefaultValue, MaxValue} {
		cfg := config()
		cfg.Value, cfg.Log = value, 0
		n, err := Start(alone{name: "n1"}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, bytes := range []int{0, 1, n.cfg.maxCommand()} {
			m := &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), To: u(2)}
			for range n.cfg.room() / (4 + bytes) { // the library counts at least 4 bytes for a term and an index
				m.Entries = append(m.Entries, &pb.Entry{Term: u(1), Index: u(1), Data: make([]byte, bytes)})
			}
			n.queue(m)
			if b := n.take(2); len(b) != size(m) || len(m.Entries) == 0 || len(n.out[1]) != 0 {
				t.Errorf("%d entries of %d bytes: %d are sent of %d", len(m.Entries), bytes, len(b), size(m))
			}
		}
	}
}

// Two tasks that connect at once make one connection to each node.
func TestConnectionsAreMadeOnce(t *testing.T) {
	n := start(t, "n1")
	n.connecting = true // another task makes them
	n.changed = meanwhile{do: func() {
		n.connecting = false
		n.links[1], n.links[2] = &rpc.Client{}, &rpc.Client{}
	}}
	n.Connect()
	if n.connecting || n.Linked() != 2 {
		t.Error(n.connecting, n.Linked())
	}
}
