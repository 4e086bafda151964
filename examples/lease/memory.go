package lease

import (
	"encoding/binary"
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The words of the memory.
const (
	lockWord  = 0
	countWord = 8
	size      = 16
)

// ErrMemory: the memory cannot be reached.
var ErrMemory = errors.New("lease: the memory cannot be reached")

const service = "lease"

// Serve lends the words to whoever connects. Its CPU takes no part in what clients do
// with them. It returns only with an error.
func Serve(h host.Host) error {
	words, err := h.Alloc(size)
	if err != nil {
		return err
	}
	pd, err := h.Device().AllocPD()
	if err != nil {
		return err
	}
	const all = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
	mr, err := pd.RegisterMR(words, all)
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
	p, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic})
	if err != nil {
		return end, err
	}
	end = p.Endpoint()
	_, err = p.Connect(client)
	return end, err
}

// Memory is a client's connection to the words.
type Memory struct {
	h   host.Host
	buf host.Region
	mr  verbs.MR
	cq  verbs.CQ
	qp  verbs.QP
	at  uint64
	key uint32
}

// Connect connects to the memory of another host.
func Connect(h host.Host, to string) (*Memory, error) {
	m := &Memory{h: h}
	var err error
	if m.buf, err = h.Alloc(8); err != nil {
		return nil, err
	}
	pd, err := h.Device().AllocPD()
	if err != nil {
		return nil, err
	}
	if m.mr, err = pd.RegisterMR(m.buf, verbs.LocalWrite); err != nil {
		return nil, err
	}
	if m.cq, err = h.Device().CreateCQ(4, nil); err != nil {
		return nil, err
	}
	p, err := pd.CreateQP(verbs.QPConfig{SendCQ: m.cq, RecvCQ: m.cq})
	if err != nil {
		return nil, err
	}
	mine, _ := p.Endpoint().AppendBinary(nil)
	b, err := h.Call(to, service, mine, verbs.Forever)
	if err != nil {
		return nil, err
	}
	if len(b) != verbs.EndpointSize+12 {
		return nil, ErrMemory
	}
	var end verbs.Endpoint
	if err := end.UnmarshalBinary(b[:verbs.EndpointSize]); err != nil {
		return nil, err
	}
	b = b[verbs.EndpointSize:]
	m.at, m.key = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
	m.qp, err = p.Connect(end)
	return m, err
}

// read returns a word.
func (m *Memory) read(word uint64) (uint64, error) {
	err := m.do(word, verbs.SendWR{Op: verbs.OpRead})
	return m.buf.Load64(0), err
}

// write sets a word, and returns when the card of the memory has it.
func (m *Memory) write(word, v uint64) error {
	m.buf.Store64(0, v)
	return m.do(word, verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Inline})
}

// swap makes a word new if it is old, and returns what it was.
func (m *Memory) swap(word, old, new uint64) (uint64, error) {
	err := m.do(word, verbs.SendWR{Op: verbs.OpCompareSwap, Compare: old, Swap: new})
	return m.buf.Load64(0), err
}

// do posts one request for a word and waits for its completion.
func (m *Memory) do(word uint64, wr verbs.SendWR) error {
	wr.Flags |= verbs.Signaled
	wr.RemoteAddr, wr.RKey = m.at+word, m.key
	wr.SGL = []verbs.SGE{{Addr: m.mr.Addr(), Length: 8, LKey: m.mr.LKey()}}
	if err := m.qp.PostSend([]verbs.SendWR{wr}); err != nil {
		return err
	}
	var wc [1]verbs.WC
	if _, err := m.cq.Wait(wc[:], verbs.Forever); err != nil {
		return err
	}
	return wc[0].Err()
}
