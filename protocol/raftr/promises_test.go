package raftr

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
)

// clocked is a host alone, with a clock that the test sets and persistent memory.
type clocked struct {
	alone
	now *time.Duration
	mem *pmemhost.Host
}

func (c clocked) Now() time.Duration { return *c.now }
func (c clocked) OpenPMEM(name string, size int) (host.Region, error) {
	return c.mem.OpenPMEM(name, size)
}

// leases is a configuration with leases, and the host of a node.
func leases(name string) (Config, clocked) {
	cfg := config()
	cfg.Lease = cfg.Election / 2
	return cfg, clocked{alone{name: name}, new(time.Duration), pmemhost.New()}
}

func (n *Node) send(t testing.TB, from string, m *pb.Message) []*pb.Message {
	t.Helper()
	b, err := n.Step(from, encode(m))
	if err != nil {
		t.Fatal(err)
	}
	out, err := n.cfg.decodeMessages(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// votes reports whether the node votes for another one that has its log, in the next term.
func (n *Node) votes(t testing.TB, candidate string) bool {
	t.Helper()
	last := n.store.last()
	logTerm, err := n.store.Term(last)
	if err != nil {
		t.Fatal(err)
	}
	out := n.send(t, candidate, &pb.Message{Type: pb.MsgVote.Enum(), Term: u(n.Term() + 1), Index: u(last), LogTerm: u(logTerm)})
	return len(out) == 1 && out[0].GetType() == pb.MsgVoteResp && !out[0].GetReject()
}

// Until an election timeout has passed since it has heard of the leader, a follower helps to elect nobody.
func TestAFollowerKeepsItsPromiseToTheLeaderForAnElectionTimeout(t *testing.T) {
	cfg, h := leases("n1")
	n, err := Start(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.send(t, "n2", &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(1)})
	*h.now = cfg.Election / 3
	n.send(t, "n2", &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(1)})
	*h.now += cfg.Election - 1
	if n.votes(t, "n3") {
		t.Error("it votes for another node before the time")
	}
	if o, err := n.Campaign(); o != Lost || err != nil || n.Term() != 1 {
		t.Errorf("it stands for election before the time: %v, %v, term %d", o, err, n.Term())
	}
	if vacant, err := n.Watch(); vacant || err != nil {
		t.Errorf("it finds no leader before the time: %v", err)
	}
	*h.now++
	if vacant, err := n.Watch(); !vacant || err != nil {
		t.Errorf("it does not miss the leader: %v", err)
	}
	if !n.votes(t, "n3") {
		t.Error("it does not vote after the time")
	}
}

// A node that starts again may have promised a leader of whom it has forgotten.
func TestANodeThatStartsAgainKeepsThePromiseThatItMayHaveGiven(t *testing.T) {
	cfg, h := leases("n1")
	cfg.Persistent = true
	if _, err := Start(h, cfg); err != nil {
		t.Fatal(err)
	}
	*h.now = 5 * cfg.Election
	cfg.New = false
	n, err := Start(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	*h.now += cfg.Election - 1
	if n.votes(t, "n2") {
		t.Error("it votes")
	}
	*h.now++
	if !n.votes(t, "n2") {
		t.Error("it does not vote after the time")
	}
}

// serve makes a new node the leader, which serves: the second node has its first entry.
func (n *Node) serve(t testing.TB) {
	t.Helper()
	n.lead(t)
	n.send(t, "n2", &pb.Message{Type: pb.MsgAppResp.Enum(), Term: u(n.Term()), Index: u(n.store.last())})
	if !n.serving {
		t.Fatal("it does not serve")
	}
}

// beat is a Beat that the second node answers, some time later.
func (n *Node) beat(t testing.TB, h clocked, later time.Duration) error {
	t.Helper()
	n.driving = true
	n.changed = meanwhile{do: func() {
		*h.now += later
		n.driving = false
		m := n.out[1][len(n.out[1])-1]
		n.send(t, "n2", &pb.Message{Type: pb.MsgHeartbeatResp.Enum(), Term: u(n.Term()), Context: m.GetContext()})
	}}
	return n.Beat()
}

// A lease counts from before the heartbeat, is renewed by the next one, and over when it ends.
func TestALeaseCountsFromItsHeartbeat(t *testing.T) {
	cfg, h := leases("n1")
	n, err := Start(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.serve(t)
	reads := func() bool {
		t.Helper()
		n.changed = free{}
		_, _, err := n.Get("k")
		if err != nil && !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	}
	if reads() {
		t.Error("it reads without a lease")
	}
	began := *h.now
	for i := range time.Duration(2) {
		if err := n.beat(t, h, cfg.Lease/4); err != nil {
			t.Fatal(err)
		}
		if *h.now = began + cfg.Lease - 1; !reads() {
			t.Errorf("it does not read under lease %d", i+1)
		}
		if i == 0 {
			began = *h.now
		}
	}
	if *h.now = began + cfg.Lease; reads() {
		t.Error("it reads after its lease")
	}
}

// put is a write that waits for another task, which does something meanwhile.
func (n *Node) put(do func()) error {
	n.driving = true
	n.changed = meanwhile{do: func() {
		n.driving = false
		do()
	}}
	return n.Put("k", "v")
}

// What a leader that is replaced may say about the write under way depends on what was committed in its place.
func TestAWriteOfAReplacedLeaderIsWhatWasCommittedInItsPlace(t *testing.T) {
	for name, x := range map[string]struct {
		entry *pb.Entry // in its place
		want  error
	}{
		"its entry":     {nil, nil},
		"another entry": {&pb.Entry{Term: u(2)}, ErrNotLeader},
	} {
		n := start(t, "n1")
		n.serve(t)
		err := n.put(func() {
			m := &pb.Message{Type: pb.MsgApp.Enum(), Term: u(2), Index: u(2), LogTerm: u(1), Commit: u(2)}
			if x.entry != nil {
				m.Index, m.Entries = u(1), []*pb.Entry{x.entry}
			}
			n.send(t, "n2", m)
		})
		if !errors.Is(err, x.want) || errors.Is(err, ErrUnknown) {
			t.Errorf("%s was committed: %v", name, err)
		}
	}
	n := start(t, "n1")
	n.serve(t)
	if err := n.Put("k", "v"); !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody can be reached: %v", err)
	}
}

// A leader that leads again counts its reads from 0, as the library does. An answer about earlier ones would make that panic.
func TestALeaderThatLeadsAgainCountsItsReadsAnew(t *testing.T) {
	n := start(t, "n1")
	n.serve(t)
	for range 3 {
		if err := n.Beat(); !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
	}
	n.send(t, "n2", &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(2)})
	n.stand(t)
	n.send(t, "n2", &pb.Message{Type: pb.MsgVoteResp.Enum(), Term: u(3)})
	if n.raw.BasicStatus().RaftState != raft.StateLeader {
		t.Fatal(n.raw.BasicStatus())
	}
	answer := &pb.Message{Type: pb.MsgHeartbeatResp.Enum(), Term: u(3), Context: []byte{3, 0, 0, 0, 0, 0, 0, 0}}
	if _, err := n.Step("n3", encode(answer)); !errors.Is(err, ErrMalformed) || n.broken != nil {
		t.Errorf("%v, %v", err, n.broken)
	}
}

// A leader begins with an entry, so nobody may be elected whose log is full.
func TestANodeWhoseLogIsFullDoesNotStand(t *testing.T) {
	n := start(t, "n1")
	m := &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1)}
	for range n.cfg.Log {
		m.Entries = append(m.Entries, &pb.Entry{Term: u(1)})
	}
	n.send(t, "n2", m)
	if _, err := n.Campaign(); !errors.Is(err, ErrFull) || n.broken != nil || n.Term() != 1 {
		t.Errorf("%v, %v, term %d", err, n.broken, n.Term())
	}
}

// Each write of a session changes the store once, and a session that nobody has opened changes nothing.
func TestASessionCarriesOutEachWriteOnce(t *testing.T) {
	s := newMachine()
	put := func(session, seq uint64, value string) bool {
		return s.apply(9, &command{op: opPut, session: session, seq: seq, key: "k", value: value})
	}
	s.apply(5, &command{op: opOpen})
	for _, x := range []struct {
		session, seq uint64
		value, want  string
		known        bool
	}{
		{5, 1, "a", "a", true}, {5, 1, "b", "a", true}, {5, 3, "c", "c", true}, {5, 2, "d", "c", true},
		{6, 1, "e", "c", false}, {0, 0, "f", "f", true}, {0, 0, "g", "g", true},
	} {
		if known := put(x.session, x.seq, x.value); known != x.known || s.values["k"] != x.want {
			t.Errorf("%+v: %v, and the value is %q", x, known, s.values["k"])
		}
	}
}

// A client may repeat what was not carried out elsewhere, but must be told of what may have been.
func TestAnswersTellWhetherAWriteMayHaveBeenCarriedOut(t *testing.T) {
	put := (&command{op: opPut, key: "k", value: "v"}).encode()
	ask := func(n *Node, b []byte) status {
		t.Helper()
		x, err := decodeReply(n.Answer(b))
		if err != nil {
			t.Fatal(err)
		}
		return x.status
	}
	n := start(t, "n1")
	if got := ask(n, put); got != notLeader {
		t.Errorf("a follower: %v", got)
	}
	n.serve(t)
	if got := ask(n, put); got != unknown {
		t.Errorf("a leader without followers: %v", got)
	}
	if got := ask(n, (&command{op: opGet, key: "k"}).encode()); got != notLeader {
		t.Errorf("a read of a leader without followers: %v", got)
	}
	if got := ask(n, (&command{op: opPut, session: 1, key: "k"}).encode()); got != refused {
		t.Errorf("a session without a number: %v", got)
	}
	_ = n.protect(func() error { panic("at sea") })
	if got := ask(n, put); got != unknown {
		t.Errorf("a node that is broken: %v", got)
	}
}

// A term has one leader: a node that follows one believes no other.
func TestAFollowerBelievesOneLeaderInATerm(t *testing.T) {
	n := start(t, "n1")
	n.send(t, "n3", &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(1)})
	for _, kind := range []pb.MessageType{pb.MsgApp, pb.MsgHeartbeat} {
		if _, err := n.Step("n2", encode(&pb.Message{Type: kind.Enum(), Term: u(1)})); !errors.Is(err, ErrMalformed) || n.Leader() != "n3" {
			t.Errorf("%v: %v, and %q leads", kind, err, n.Leader())
		}
	}
}

// What the encoding does not allow is refused, with all that comes with it.
func TestNumbersAndEntriesOutsideTheLimitsAreRefused(t *testing.T) {
	c := config().withDefaults()
	entry := func(bytes int) *pb.Message {
		return &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{Term: u(1), Data: make([]byte, bytes)}}}
	}
	kind := encode(entry(0))
	kind[0] = byte(len(kinds))
	for name, x := range map[string]struct {
		b    []byte
		good bool
	}{
		"the largest term":   {encode(&pb.Message{Type: pb.MsgVote.Enum(), Term: u(maxNumber)}), true},
		"a larger term":      {encode(&pb.Message{Type: pb.MsgVote.Enum(), Term: u(maxNumber + 1)}), false},
		"a larger index":     {encode(&pb.Message{Type: pb.MsgVote.Enum(), Term: u(1), Index: u(maxNumber + 1)}), false},
		"the longest entry":  {encode(entry(c.maxCommand())), true},
		"a longer entry":     {encode(entry(c.maxCommand() + 1)), false},
		"an unknown kind":    {kind, false},
		"a part of an entry": {encode(entry(9))[:messageHead+entryHead+8], false},
	} {
		if _, err := c.decodeMessages(x.b); (err == nil) != x.good || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
