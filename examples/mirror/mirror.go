package mirror

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrLost: no mirror is left.
var ErrLost = errors.New("mirror: no mirror is left")

const service = "mirror"

// Serve lends one word of memory to every client that connects. Its CPU takes no part in
// reads and writes. It returns only with an error.
func Serve(h host.Host) error {
	lender, err := lend.NewLender(h)
	if err != nil {
		return err
	}
	word, err := lender.Lend(8, verbs.RemoteWrite|verbs.RemoteRead)
	if err != nil {
		return err
	}
	return lend.Serve(h, service, func(v *lend.Visitor) error { return v.Admit(word) })
}

// Register is a client's view of a register of one word on several mirrors.
type Register struct {
	group   *lend.Group
	buf     *lend.Memory
	mirrors []*lend.Conn
	ids     uint64
}

// Open connects to the mirrors. Those that cannot be reached are lost.
func Open(h host.Host, mirrors ...string) (*Register, error) {
	g, err := lend.NewGroup(h)
	if err != nil {
		return nil, err
	}
	r := &Register{group: g}
	if r.buf, err = g.Register(8); err != nil {
		return nil, err
	}
	for _, name := range mirrors {
		c, err := g.Dial(name, service, nil, 1, verbs.QPConfig{MaxInline: 8}, verbs.Forever)
		if err != nil {
			h.Logf("mirror %s is lost: %v", name, err)
			continue
		}
		r.mirrors = append(r.mirrors, c)
	}
	return r, nil
}

// Read returns the value of the first mirror that is left.
func (r *Register) Read() (uint64, error) {
	for _, c := range r.mirrors {
		if r.post(c, verbs.OpRead, 0) && r.done(c) {
			return r.buf.Region.Load64(0), nil
		}
	}
	return 0, ErrLost
}

// post hands a request for the word to the card. It reports whether the mirror
// is there.
func (r *Register) post(c *lend.Conn, op verbs.Opcode, flags verbs.SendFlags) bool {
	r.ids++
	word := c.Windows[0]
	return r.group.Post(c, []verbs.SendWR{{ID: r.ids, Op: op, Flags: flags | verbs.Signaled, RemoteAddr: word.Addr, RKey: word.RKey,
		SGL: []verbs.SGE{r.buf.SGE(0, 8)}}})
}

// done waits for the last request to a mirror. It reports whether it succeeded;
// a mirror where one failed is lost.
func (r *Register) done(c *lend.Conn) bool { return r.group.Await(c, c.Asked) }
