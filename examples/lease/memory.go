package lease

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The words of the memory.
const (
	lockWord  = 0
	countWord = 8
	size      = 16
)

const service = "lease"

// Serve lends the words to every client that connects. Its CPU takes no part in what clients do
// with them. It returns only with an error.
func Serve(h host.Host) error {
	lender, err := lend.NewLender(h)
	if err != nil {
		return err
	}
	words, err := lender.Lend(size, verbs.RemoteWrite|verbs.RemoteRead|verbs.RemoteAtomic)
	if err != nil {
		return err
	}
	return lend.Serve(h, service, func(v *lend.Visitor) error { return v.Admit(words) })
}

// Memory is a client's connection to the words.
type Memory struct {
	h     host.Host
	group *lend.Group
	buf   *lend.Memory
	conn  *lend.Conn
	sgl   [1]verbs.SGE
}

// Connect connects to the memory of another host.
func Connect(h host.Host, to string) (*Memory, error) {
	m := &Memory{h: h}
	var err error
	if m.group, err = lend.NewGroup(h); err != nil {
		return nil, err
	}
	if m.buf, err = m.group.Register(8); err != nil {
		return nil, err
	}
	m.sgl[0] = m.buf.SGE(0, 8)
	m.conn, err = m.group.Dial(to, service, nil, 1, verbs.QPConfig{MaxInline: 8}, verbs.Forever)
	return m, err
}

// read returns a word.
func (m *Memory) read(word uint64) (uint64, error) {
	err := m.do(word, verbs.SendWR{Op: verbs.OpRead})
	return m.buf.Region.Load64(0), err
}

// write sets a word, and returns when the card of the memory has it.
func (m *Memory) write(word, v uint64) error {
	m.buf.Region.Store64(0, v)
	return m.do(word, verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Inline})
}

// swap sets a word to new if it equals old, and returns its previous value.
func (m *Memory) swap(word, old, new uint64) (uint64, error) {
	err := m.do(word, verbs.SendWR{Op: verbs.OpCompareSwap, Compare: old, Swap: new})
	return m.buf.Region.Load64(0), err
}

// do carries out one request for a word.
func (m *Memory) do(word uint64, wr verbs.SendWR) error {
	wr.RemoteAddr, wr.RKey, wr.SGL = m.conn.Windows[0].Addr+word, m.conn.Windows[0].RKey, m.sgl[:]
	return m.group.Do(m.conn, wr)
}
