package rpc

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// card is every object of a card and its host that one end of a connection uses. All that arrives
// are messages of call 1.
type card struct {
	host.Host
	posts []string
}

func (c *card) Logf(string, ...any) {}

type cardQP struct {
	verbs.QP
	*card
}

func (q cardQP) Destroy() error { return nil }

func (q cardQP) PostRecv([]verbs.RecvWR) error {
	q.posts = append(q.posts, "receive")
	return nil
}

func (q cardQP) PostSend([]verbs.SendWR) error {
	q.posts = append(q.posts, "send")
	return nil
}

type cardCQ struct{ verbs.CQ }

func (cardCQ) Wait(wc []verbs.WC, _ time.Duration) (int, error) {
	wc[0] = verbs.WC{Op: verbs.WCRecv, ByteLen: header}
	return 1, nil
}

type cardMemory struct {
	host.Region
	verbs.MR
}

func (cardMemory) Load(_ int, b []byte) { binary.BigEndian.PutUint64(b, 1) }
func (cardMemory) Store(int, []byte)    {}
func (cardMemory) Addr() uint64         { return 0 }
func (cardMemory) LKey() uint32         { return 0 }
func (cardMemory) Len() int             { return 0 }

func (c *card) slots() *slots {
	return &slots{cfg: Config{MaxMessage: 8, Credits: 1}, group: lend.GroupOf(c, nil, nil), mem: &lend.Memory{Region: cardMemory{}, MR: cardMemory{}},
		conn: &lend.Conn{QP: cardQP{card: c}, CQ: cardCQ{}, Depth: 1}}
}

// An answer gives the client a credit, so the receive for its next request is there before.
// The simulator cannot tell: with these retries its cards wait for a receive as long as it takes.
func TestReceiveIsPostedBeforeTheAnswer(t *testing.T) {
	c := &card{}
	if !c.slots().answer(c, func(string, []byte) []byte { return nil }) {
		t.Fatal("it does not answer")
	}
	if want := []string{"receive", "send"}; !slices.Equal(c.posts, want) {
		t.Errorf("it posts %q, want %q", c.posts, want)
	}
}

// A server that answers one call twice is malformed: its second answer takes nobody's credit.
func TestSecondAnswerToOneCall(t *testing.T) {
	c := &card{}
	x := &Client{s: c.slots(), calls: []call{{number: 1}}}
	if err := x.receive(); err != nil || !x.calls[0].done {
		t.Fatalf("the first answer: %v", err)
	}
	if err := x.receive(); !errors.Is(err, ErrMalformed) || !errors.Is(x.s.conn.Err, ErrMalformed) {
		t.Errorf("the second answer: %v, and the connection: %v", err, x.s.conn.Err)
	}
}
