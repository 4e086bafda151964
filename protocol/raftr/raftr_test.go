package raftr

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// alone is a host without a network. The tests call the node's steps directly.
type alone struct {
	host.Host
	name string
}

func (a alone) Name() string               { return a.name }
func (alone) Now() time.Duration           { return 0 }
func (alone) Logf(string, ...any)          {}
func (alone) NewMutex() host.Mutex         { return free{} }
func (alone) NewCond(host.Mutex) host.Cond { return free{} }
func (alone) Device() verbs.Device         { return card{} }

type free struct{ host.Cond }

func (free) Lock()      {}
func (free) Unlock()    {}
func (free) Broadcast() {}

type card struct{ verbs.Device }

func (card) AllocPD() (verbs.PD, error)                    { return nil, nil }
func (card) CreateCompChannel() (verbs.CompChannel, error) { return nil, nil }

func config() Config {
	return Config{Nodes: []string{"n1", "n2", "n3"}, New: true, Log: 20, Value: 8, Election: time.Second, CallTimeout: time.Second}
}

// start starts a node of its own.
func start(t testing.TB, name string) *Node {
	t.Helper()
	n, err := Start(alone{name: name}, config())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stand makes the node a candidate, and lead makes it the leader by the vote of the second.
func (n *Node) stand(t testing.TB) {
	t.Helper()
	if err := errors.Join(n.raw.Campaign(), n.settle()); err != nil {
		t.Fatal(err)
	}
}

func (n *Node) lead(t testing.TB) {
	t.Helper()
	n.stand(t)
	term := n.Term()
	if _, err := n.Step("n2", encode(&pb.Message{Type: pb.MsgVoteResp.Enum(), Term: &term})); err != nil || !n.leads(term) {
		t.Fatal(err, n.raw.BasicStatus())
	}
}

func encode(m *pb.Message) []byte { return appendMessage(nil, m) }

func u(n uint64) *uint64 { return &n }

func TestConfigurationsOutsideTheLimitsAreErrors(t *testing.T) {
	good := config()
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *Config){
		"an even number":   func(c *Config) { c.Nodes = c.Nodes[:2] },
		"nobody":           func(c *Config) { c.Nodes = nil },
		"twice the same":   func(c *Config) { c.Nodes = []string{"a", "b", "a"} },
		"no name":          func(c *Config) { c.Nodes = []string{"", "b", "a"} },
		"too many":         func(c *Config) { c.Nodes = strings.Split(strings.Repeat("x,", 2*MaxF+2), ",") },
		"a negative log":   func(c *Config) { c.Log = -1 },
		"too long a log":   func(c *Config) { c.Log = MaxLog + 1 },
		"a negative value": func(c *Config) { c.Value = -1 },
		"too long a value": func(c *Config) { c.Value = MaxValue + 1 },
		"no election":      func(c *Config) { c.Election = 0 },
		"no timeout":       func(c *Config) { c.CallTimeout = 0 },
		"keep-alive":       func(c *Config) { c.KeepAlive = -1 },
		"a lease too long": func(c *Config) { c.Lease = time.Second },
		"a negative lease": func(c *Config) { c.Lease = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := config()
			if change(&c); !errors.Is(c.Validate(), ErrConfig) {
				t.Errorf("got %v", c.Validate())
			}
		})
	}
	if _, err := Start(alone{name: "stranger"}, config()); !errors.Is(err, ErrConfig) {
		t.Errorf("a host that is no node: %v", err)
	}
	again := config()
	again.New = false
	if _, err := Start(alone{name: "n1"}, again); !errors.Is(err, ErrOutsider) {
		t.Errorf("a node that starts again without its memory: %v", err)
	}
	most := Config{Nodes: []string{"a"}, Value: MaxValue, Election: 1, CallTimeout: 1}.withDefaults()
	if calls := most.calls(); calls.Validate() != nil {
		t.Error(calls.Validate())
	}
}

// Each of these makes the library panic, or would be believed.
func TestMessagesThatNoNodeSendsAreRefused(t *testing.T) {
	empty := []*pb.Entry{{Term: u(1)}}
	for name, x := range map[string]struct {
		leads bool
		m     *pb.Message
	}{
		"no term":                    {false, &pb.Message{Type: pb.MsgVote.Enum()}},
		"a commit beyond the log":    {false, &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(3), Commit: u(9)}},
		"the same to a candidate":    {false, &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(1), Commit: u(9)}},
		"a second leader":            {true, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: empty}},
		"a second leader's beat":     {true, &pb.Message{Type: pb.MsgHeartbeat.Enum(), Term: u(1)}},
		"an index without a term":    {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Index: u(1)}},
		"a term beyond its own":      {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Index: u(1), LogTerm: u(2)}},
		"an entry of no term":        {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{}}}},
		"an entry of a later term":   {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{Term: u(2)}}}},
		"terms that go down":         {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(3), Entries: []*pb.Entry{{Term: u(2)}, {Term: u(1)}}}},
		"an entry that is nonsense":  {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{Term: u(1), Data: []byte("x")}}}},
		"a read in the log":          {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{Term: u(1), Data: (&command{op: opGet}).encode()}}}},
		"a write without a key":      {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{Term: u(1), Data: (&command{op: opPut}).encode()}}}},
		"more than a log holds":      {false, &pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), LogTerm: u(1), Index: u(20), Entries: empty}},
		"a log of no length":         {false, &pb.Message{Type: pb.MsgVote.Enum(), Term: u(1), LogTerm: u(1)}},
		"an answer about no entry":   {true, &pb.Message{Type: pb.MsgAppResp.Enum(), Term: u(1), Index: u(9)}},
		"a hint about no entry":      {true, &pb.Message{Type: pb.MsgAppResp.Enum(), Term: u(1), Reject: new(bool), RejectHint: u(9)}},
		"a read that nobody has had": {true, &pb.Message{Type: pb.MsgHeartbeatResp.Enum(), Term: u(1), Context: []byte{1, 0, 0, 0, 0, 0, 0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, "n1")
			if n.stand(t); x.leads {
				n = start(t, "n1")
				n.lead(t)
			}
			before := n.raw.BasicStatus()
			if _, err := n.Step("n2", encode(x.m)); !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v", err)
			}
			if after := n.raw.BasicStatus(); n.broken != nil || after.GetTerm() != before.GetTerm() || after.RaftState != before.RaftState {
				t.Errorf("%v, and it is %v", n.broken, after)
			}
		})
	}
	n := start(t, "n1")
	for _, from := range []string{"n1", "stranger", ""} {
		if _, err := n.Step(from, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("from %q: %v", from, err)
		}
	}
}

// A panic of the library stops the node, and nothing after it is believed.
func TestAPanicStopsTheNode(t *testing.T) {
	n := start(t, "n1")
	if err := n.protect(func() error { panic("at sea") }); !errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
	_, watch := n.Watch()
	_, stand := n.Campaign()
	_, _, get := n.Get("k")
	_, step := n.Step("n2", encode(&pb.Message{Type: pb.MsgVote.Enum(), Term: u(1)}))
	for _, err := range []error{watch, stand, get, n.Put("k", "v"), n.Lead(), n.Beat(), step} {
		if !errors.Is(err, ErrBroken) {
			t.Errorf("%v", err)
		}
	}
}

func TestAMessageIsReadAsWritten(t *testing.T) {
	c := config().withDefaults()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint64Range(0, maxNumber-20)
		reject := rapid.Bool().Draw(t, "reject")
		m := &pb.Message{Type: kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")].Enum(), Term: u(number.Draw(t, "term")), LogTerm: u(number.Draw(t, "log term")),
			Index: u(number.Draw(t, "index")), Commit: u(number.Draw(t, "commit")), Reject: &reject, RejectHint: u(number.Draw(t, "hint"))}
		for i := range rapid.IntRange(0, 3).Draw(t, "entries") {
			m.Entries = append(m.Entries, &pb.Entry{Term: u(number.Draw(t, "entry")), Index: u(m.GetIndex() + 1 + uint64(i)), Data: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "data")})
		}
		b := encode(m)
		got, err := c.decodeMessages(append(b, b...))
		if err != nil || len(got) != 2 || !bytes.Equal(encode(got[1]), b) || len(b) != size(m) || fmt.Sprint(got[0]) != fmt.Sprint(m) {
			t.Fatalf("%v: %v, %v", m, got, err)
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add(encode(&pb.Message{Type: pb.MsgApp.Enum(), Term: u(1), Entries: []*pb.Entry{{Term: u(1), Data: []byte("x")}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := config().withDefaults()
		messages, err := c.decodeMessages(b)
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
		var again []byte
		for _, m := range messages {
			again = appendMessage(again, m)
		}
		if err == nil && !bytes.Equal(again, b) {
			t.Fatalf("%x is read as %x", b, again)
		}
	})
}

func FuzzCommand(f *testing.F) {
	f.Add((&command{op: opPut, session: 1, seq: 2, key: "k", value: "v"}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := decodeCommand(b); err == nil && !bytes.Equal(x.encode(), b) || err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("%x: %+v, %v", b, x, err)
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add((&reply{status: unknown, found: true, number: 3, text: "t"}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := decodeReply(b); err == nil && !bytes.Equal(x.encode(), b) || err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("%x: %+v, %v", b, x, err)
		}
	})
}

// play makes a node go through a history that bytes describe: messages of others with numbers that are small
// enough to mean something, bytes as they are, elections, writes and reads.
func play(t testing.TB, b []byte) *Node {
	n := start(t, "n1")
	next := func() byte {
		if len(b) == 0 {
			return 0
		}
		x := b[0]
		b = b[1:]
		return x
	}
	for len(b) > 0 {
		from := n.cfg.Nodes[1+next()%2]
		switch next() % 7 {
		case 0:
			_ = n.raw.Campaign()
		case 1:
			if n.serving {
				_ = n.raw.Propose((&command{op: opPut, key: "k", value: string(rune('a' + next()%26))}).encode())
			}
		case 2:
			if n.serving {
				n.asked++
				n.raw.ReadIndex([]byte{0, 0, 0, 0, 0, 0, 0, byte(n.asked)})
			}
		case 3:
			most := int(next())
			_, _ = n.Step(from, b[:min(len(b), most)])
		case 4:
			small := func() *uint64 { return u(uint64(next() % 5)) }
			reject := next()%2 == 0
			m := &pb.Message{Type: kinds[int(next())%len(kinds)].Enum(), Term: small(), LogTerm: small(), Index: small(), Commit: small(), Reject: &reject, RejectHint: small()}
			if x := next() % 3; x > 0 {
				m.Context = []byte{x, 0, 0, 0, 0, 0, 0, 0}
			}
			for range next() % 3 {
				m.Entries = append(m.Entries, &pb.Entry{Term: small()})
			}
			_, _ = n.Step(from, encode(m))
		case 5: // others vote for it
			_, _ = n.Step(from, encode(&pb.Message{Type: pb.MsgVoteResp.Enum(), Term: u(n.raw.BasicStatus().GetTerm())}))
		case 6: // others have its log
			_, _ = n.Step(from, encode(&pb.Message{Type: pb.MsgAppResp.Enum(), Term: u(n.raw.BasicStatus().GetTerm()), Index: u(n.store.last())}))
		}
		if err := n.settle(); err != nil {
			t.Fatalf("the node is broken: %v", err)
		}
	}
	return n
}

// Whatever others send, the library does not panic: guard is complete.
func FuzzStep(f *testing.F) {
	for _, seed := range []string{"", "0004", "\x00\x00\x00\x04\x00\x03\x01\x00\x00\x00\x00\x00\x00\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) { play(t, b) })
}

// histories are long enough that a few of them lead somewhere: also with -short, where rapid tries 20.
var histories = rapid.SliceOfN(rapid.Byte(), 100, 400)

func TestWhateverOthersSendNothingPanics(t *testing.T) {
	led := 0
	rapid.Check(t, func(rt *rapid.T) {
		n := play(t, histories.Draw(rt, "history"))
		if n.raw.BasicStatus().RaftState == raft.StateLeader {
			led++
		}
	})
	if led == 0 {
		t.Error("no node has ever led: that tests too little")
	}
}

// state is all that a node knows, but the election timeout that the library draws and nobody looks at.
func (n *Node) state() string {
	last := n.store.last()
	entries, err := n.store.Entries(1, last+1, 1<<40)
	s := n.raw.Status()
	var progress []string
	for id := range uint64(len(n.cfg.Nodes)) {
		if p, ok := s.Progress[id+1]; ok { // the leader's
			progress = append(progress, p.String())
		}
	}
	return fmt.Sprint(s.BasicStatus.HardState, s.SoftState, s.Applied, progress, entries, err, n.out, n.machine, n.asked, n.confirmed, n.serving)
}

// Two equal histories lead to equal states. So a task's observations determine the state of the
// library, which the search does not see: it hashes what tasks have observed.
func TestEqualHistoriesLeadToEqualStates(t *testing.T) {
	different := map[string]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		b := histories.Draw(rt, "history")
		one, two := play(t, b), play(t, b)
		if x, y := one.state(), two.state(); x != y {
			t.Fatalf("%s\n%s", x, y)
		} else {
			different[x] = true
		}
		if !reflect.DeepEqual(one.raw.BasicStatus().SoftState, two.raw.BasicStatus().SoftState) {
			t.Fatal("they differ")
		}
	})
	if len(different) < 10 {
		t.Errorf("%d states: that tests too little", len(different))
	}
}
