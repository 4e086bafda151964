package mirror

import (
	"encoding/binary"
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrLost: no mirror is left.
var ErrLost = errors.New("mirror: no mirror is left")

const service = "mirror"

// Serve lends one word of memory to whoever connects. Its CPU takes no part in
// reads and writes. It returns only with an error.
func Serve(h host.Host) error {
	word, err := h.Alloc(8)
	if err != nil {
		return err
	}
	pd, err := h.Device().AllocPD()
	if err != nil {
		return err
	}
	mr, err := pd.RegisterMR(word, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
	if err != nil {
		return err
	}
	lis, err := h.Listen(service)
	if err != nil {
		return err
	}
	for {
		req, err := lis.Accept(verbs.Forever)
		if err != nil {
			return err
		}
		end, err := accept(h, pd, req.Body())
		if err != nil {
			req.Reject(err.Error())
			continue
		}
		answer, _ := end.AppendBinary(nil)
		answer = binary.BigEndian.AppendUint64(answer, mr.Addr())
		req.Reply(binary.BigEndian.AppendUint32(answer, mr.RKey()))
	}
}

// accept connects a queue pair to a client's.
func accept(h host.Host, pd verbs.PD, body []byte) (end verbs.Endpoint, err error) {
	var client verbs.Endpoint
	if err := client.UnmarshalBinary(body); err != nil {
		return end, err
	}
	cq, err := h.Device().CreateCQ(1, nil)
	if err != nil {
		return end, err
	}
	p, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite | verbs.RemoteRead})
	if err != nil {
		return end, err
	}
	end = p.Endpoint()
	_, err = p.Connect(client)
	return end, err
}

// Register is a client's view of a register of one word on several mirrors.
type Register struct {
	buf   host.Region
	mr    verbs.MR
	links []*link
	ids   uint64
}

// link is the connection to one mirror; qp is nil once the mirror is lost.
type link struct {
	cq  verbs.CQ
	qp  verbs.QP
	at  uint64
	key uint32
	id  uint64 // of the last request
}

// Open connects to the mirrors. Those that cannot be reached are lost.
func Open(h host.Host, mirrors ...string) (*Register, error) {
	r := &Register{}
	var err error
	if r.buf, err = h.Alloc(8); err != nil {
		return nil, err
	}
	pd, err := h.Device().AllocPD()
	if err != nil {
		return nil, err
	}
	if r.mr, err = pd.RegisterMR(r.buf, verbs.LocalWrite); err != nil {
		return nil, err
	}
	for _, name := range mirrors {
		l := &link{}
		r.links = append(r.links, l)
		if l.cq, err = h.Device().CreateCQ(16, nil); err != nil {
			return nil, err
		}
		p, err := pd.CreateQP(verbs.QPConfig{SendCQ: l.cq, RecvCQ: l.cq})
		if err != nil {
			return nil, err
		}
		if err := l.connect(h, name, p); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (l *link) connect(h host.Host, name string, p verbs.PreparedQP) error {
	mine, _ := p.Endpoint().AppendBinary(nil)
	b, err := h.Call(name, service, mine, verbs.Forever)
	if err != nil || len(b) != verbs.EndpointSize+12 {
		h.Logf("mirror %s is lost: %v", name, err)
		return p.Destroy()
	}
	var end verbs.Endpoint
	if err := end.UnmarshalBinary(b[:verbs.EndpointSize]); err != nil {
		return err
	}
	b = b[verbs.EndpointSize:]
	l.at, l.key = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
	l.qp, err = p.Connect(end)
	return err
}

// Read returns the value of the first mirror that is left.
func (r *Register) Read() (uint64, error) {
	for _, l := range r.links {
		if r.post(l, verbs.OpRead, 0) && r.done(l) {
			return r.buf.Load64(0), nil
		}
	}
	return 0, ErrLost
}

// post hands a request for the word to the card. It reports whether the mirror
// is there.
func (r *Register) post(l *link, op verbs.Opcode, flags verbs.SendFlags) bool {
	if l.qp == nil {
		return false
	}
	r.ids++
	l.id = r.ids
	err := l.qp.PostSend([]verbs.SendWR{{ID: l.id, Op: op, Flags: flags | verbs.Signaled, RemoteAddr: l.at, RKey: l.key,
		SGL: []verbs.SGE{{Addr: r.mr.Addr(), Length: 8, LKey: r.mr.LKey()}}}})
	if err != nil {
		l.qp = nil
	}
	return err == nil
}

// done waits for the last request to a mirror. It reports whether it succeeded;
// a mirror where one failed is lost.
func (r *Register) done(l *link) bool {
	var wc [1]verbs.WC
	for l.qp != nil {
		_, err := l.cq.Wait(wc[:], verbs.Forever)
		if err != nil || wc[0].Err() != nil {
			l.qp = nil
		} else if wc[0].ID == l.id {
			return true
		}
	}
	return false
}
