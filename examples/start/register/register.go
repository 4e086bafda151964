// Package register is a word that is kept on several hosts: a client writes it with one-sided Writes, and it survives
// the client and any minority of the hosts.
package register

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrLost: too few hosts are left.
var ErrLost = errors.New("register: too few hosts are left")

const service = "register"

// Serve lends one word of memory to every client that connects. Its CPU takes no part in reads and writes.
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

// Register is a client's view of the word.
type Register struct {
	group *lend.Group
	buf   *lend.Memory // the word to write, followed by one for the answer of each host
	hosts []*lend.Conn
	need  int // the number of hosts that must answer
	ids   uint64
}

// Open connects to the hosts. It continues without those that it cannot reach.
func Open(h host.Host, hosts ...string) (*Register, error) {
	g, err := lend.NewGroup(h)
	if err != nil {
		return nil, err
	}
	r := &Register{group: g, need: quorum.Majority(len(hosts))}
	if r.buf, err = g.Register(8 + 8*len(hosts)); err != nil {
		return nil, err
	}
	for _, name := range hosts {
		c, err := g.Dial(name, service, nil, 1, verbs.QPConfig{MaxInline: 8}, verbs.Forever)
		if err != nil {
			h.Logf("%s is lost: %v", name, err)
			continue
		}
		r.hosts = append(r.hosts, c)
	}
	return r, nil
}

// Write writes v, which is larger than every value before, to all hosts. It returns when a majority has it.
func (r *Register) Write(v uint64) error {
	r.buf.Region.Store64(0, v)
	r.ids++
	for _, c := range r.hosts {
		r.post(c, verbs.OpWrite, verbs.Inline, 0)
	}
	_, err := r.answers()
	return err
}

// Read returns the largest value of a majority: any two majorities have a host in common, so it is not older than the
// last value for which Write returned.
func (r *Register) Read() (uint64, error) {
	r.ids++
	for i, c := range r.hosts {
		r.post(c, verbs.OpRead, 0, 8+8*i)
	}
	answered, err := r.answers()
	var largest uint64
	for i, c := range r.hosts {
		if answered[c] {
			largest = max(largest, r.buf.Region.Load64(8+8*i))
		}
	}
	return largest, err
}

// post hands a request for the word of a host to the card, with the word at an offset of buf.
func (r *Register) post(c *lend.Conn, op verbs.Opcode, flags verbs.SendFlags, at int) {
	word := c.Windows[0]
	r.group.Post(c, []verbs.SendWR{{ID: r.ids, Op: op, Flags: flags | verbs.Signaled, RemoteAddr: word.Addr, RKey: word.RKey,
		SGL: []verbs.SGE{r.buf.SGE(at, 8)}}})
}

// answers waits until a majority has answered the last requests, and returns those that have.
func (r *Register) answers() (map[*lend.Conn]bool, error) {
	answered := map[*lend.Conn]bool{}
	for len(answered) < r.need {
		if len(lend.Alive(r.hosts)) < r.need {
			return nil, ErrLost
		}
		c, err := r.group.Next(r.hosts)
		if err != nil {
			return nil, err
		}
		if c != nil && c.Done == r.ids { // otherwise it has failed, or answers an earlier request
			answered[c] = true
		}
	}
	return answered, nil
}
