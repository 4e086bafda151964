package arcadia

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// card fakes a queue pair, its CQ, their channel and a registration. It answers each request at once.
type card struct {
	verbs.PD
	answers uint32
	ready   [4]verbs.WC
	n       int
}

func (c *card) put(wc verbs.WC) {
	c.ready[c.n] = wc
	c.n++
}

func (c *card) PostSend(wrs []verbs.SendWR) error {
	c.answers++
	c.put(verbs.WC{Op: verbs.WCRecv, HasImm: true, Imm: c.answers})
	if wrs[0].Flags&verbs.Signaled != 0 {
		c.put(verbs.WC{Op: verbs.WCWrite, ID: wrs[0].ID})
	}
	return nil
}

func (c *card) Poll(wc []verbs.WC) (int, error) {
	if c.n == 0 {
		return 0, nil
	}
	wc[0] = c.ready[0]
	copy(c.ready[:], c.ready[1:])
	c.n--
	return 1, nil
}

type (
	cardCQ      struct{ *card }
	cardChannel struct{ *card }
	cardQP      struct{ *card }
	cardMR      struct{}
)

func (c cardCQ) Wait(wc []verbs.WC, _ time.Duration) (int, error) { return c.Poll(wc) }
func (c cardCQ) Destroy() error                                   { return nil }

func (c cardChannel) Wait(time.Duration) (verbs.CQ, error) {
	if c.n == 0 {
		return nil, verbs.ErrTimeout
	}
	return cardCQ(c), nil
}
func (c cardChannel) Gather([]verbs.CQ, []verbs.WC, time.Duration) error { panic("no") }
func (c cardChannel) Destroy() error                                     { return nil }

func (c cardQP) Num() uint32                   { return 1 }
func (c cardQP) State() verbs.QPState          { return verbs.StateRTS }
func (c cardQP) PostRecv([]verbs.RecvWR) error { return nil }
func (c cardQP) Modify(verbs.QPAttr) error     { return nil }
func (c cardQP) Destroy() error                { return nil }

func (cardMR) Addr() uint64 { return 0 }
func (cardMR) Len() int     { return 1 << 16 }
func (cardMR) LKey() uint32 { return 1 }
func (cardMR) RKey() uint32 { return 1 }
func (cardMR) Dereg() error { return nil }

// A replicated force allocates nothing, however many forces came before (A13).
func TestReplicatedForceAllocatesNothing(t *testing.T) {
	h, c := newF(), &card{}
	region, err := h.OpenPMEM("log", 1<<16)
	ok(t, err)
	conn := &lend.Conn{Peer: "backup", CQ: cardCQ{c}, QP: cardQP{c}, Depth: 2 * inFlight, Windows: []lend.Window{{Len: 1 << 16}}}
	r := &Replicas{h: h, cfg: Config{Name: "log", Size: 1 << 16, Backups: []string{"backup"}, Quorum: 1, RemoteOnly: true}, mu: h.NewMutex(),
		group: lend.GroupOf(h, c, cardChannel{c}), mem: &lend.Memory{Region: region, MR: cardMR{}}, backups: []*replica{{conn: conn}}, conns: []*lend.Conn{conn}}
	if n := testing.AllocsPerRun(200, func() {
		if err := r.Force(128, 64); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if c.answers < 200 {
		t.Errorf("%d requests", c.answers)
	}
}
