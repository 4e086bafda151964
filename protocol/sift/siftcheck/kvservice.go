package siftcheck

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// memoryHost is the host, and the service, of a memory that does not fail: what Sift promises, in
// the place of Sift. Each call is one step. A call of a coordinator that was replaced is refused.
const memoryHost = "memory"

// shared is the memory.
type shared struct {
	cfg    *kv.Config
	term   uint16 // of the coordinator
	memory []byte
	direct []byte
}

func (m *shared) reset() {
	l := m.cfg.Layout(2)
	*m = shared{cfg: m.cfg, memory: make([]byte, l.Size), direct: make([]byte, l.Direct)}
}

func (m *shared) hash() fingerprint.Print {
	return fingerprint.Print{}.Int(int(m.term)).String(string(m.memory)).String(string(m.direct))
}

func (m *shared) service() sim.Service {
	return sim.Service{Host: memoryHost, Name: memoryHost, Apply: m.apply, Hash: m.hash, Reset: m.reset,
		ReadOnly: func(req []byte) bool { return req[0] == 'c' || req[0] == 'r' || req[0] == 'k' }}
}

// apply carries out a call: a letter, the term of the caller, and pieces of memory. It answers
// nothing if it refuses.
func (m *shared) apply(_ string, req []byte) []byte {
	op, term, rest := req[0], binary.LittleEndian.Uint16(req[1:]), req[3:]
	if op == 'l' {
		m.term = max(m.term, term)
	}
	if term != m.term {
		return nil
	}
	out := []byte{1}
	for len(rest) > 0 {
		at, n := binary.LittleEndian.Uint32(rest), binary.LittleEndian.Uint32(rest[4:])
		rest = rest[8:]
		switch op {
		case 'r':
			out = append(out, m.memory[at:at+n]...)
		case 'k':
			out = append(out, m.direct[at:at+n]...)
		case 'w':
			copy(m.memory[at:], rest[:n])
			rest = rest[n:]
		case 'd':
			copy(m.direct[at:], rest[:n])
			rest = rest[n:]
		}
	}
	return out
}

// remote is the memory as one coordinator has it.
type remote struct {
	h    host.Host
	term uint16
}

func (r remote) call(op byte, pieces []byte) ([]byte, error) {
	req := append(binary.LittleEndian.AppendUint16([]byte{op}, r.term), pieces...)
	b, err := r.h.Call(memoryHost, memoryHost, req, verbs.Forever)
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("%w: after term %d", sift.ErrReplaced, r.term)
	}
	if err != nil {
		return nil, err
	}
	return b[1:], nil
}

func piece(b []byte, at, n int) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	return binary.LittleEndian.AppendUint32(b, uint32(n))
}

func (r remote) Term() uint16 { return r.term }

func (r remote) Confirm() error {
	_, err := r.call('c', nil)
	return err
}

func (r remote) Read(addr int, p []byte) error {
	b, err := r.call('r', piece(nil, addr, len(p)))
	copy(p, b)
	return err
}

func (r remote) WriteAll(list []sift.Update) error {
	var pieces []byte
	for _, u := range list {
		pieces = append(piece(pieces, u.Addr, len(u.Data)), u.Data...)
	}
	_, err := r.call('w', pieces)
	return err
}

func (r remote) WriteDirect(addr int, data []byte) error {
	_, err := r.call('d', append(piece(nil, addr, len(data)), data...))
	return err
}

func (r remote) Copies(addr, n int) ([][]byte, error) {
	b, err := r.call('k', piece(nil, addr, n))
	return [][]byte{b}, err
}

// lead makes a node the coordinator, and opens the store.
func (w *world) lead(h host.Host, term uint16) (*kv.Store, error) {
	m := remote{h, term}
	if _, err := m.call('l', nil); err != nil {
		return nil, err
	}
	return kv.Open(h, m, *w.load.kv)
}

// storeSpec is a scenario about the store alone.
type storeSpec struct {
	name, doc, faults, timers, bounds string
	kv                                *kv.Config
	meets                             []string
	nodes                             func(w *world) []sim.Node
}

func (s storeSpec) build() *explore.Scenario {
	return &explore.Scenario{
		Name: "sift/" + s.name, Doc: s.doc, Profile: "strong", Faults: s.faults, Timers: s.timers, Bounds: s.bounds, Sometimes: s.meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			w := &world{Kit: k, load: &workload{kv: s.kv}, rec: k.Record(model.KV{}), known: scenario.Memory[known](k)}
			cfg := w.World(s.nodes(w)...)
			cfg.Services = []sim.Service{(&shared{cfg: s.kv}).service()}
			return cfg, nil
		},
	}
}

// stored are CPU nodes: the first leads at once, and each later one when a timer fires.
func stored(cpus ...func(*store)) func(w *world) []sim.Node {
	return func(w *world) (nodes []sim.Node) {
		for i, script := range cpus {
			name := fmt.Sprint("cpu", i+1)
			client := w.rec.Client(name)
			nodes = append(nodes, scenario.StayDown(w.Host(name, func(h host.Host) error {
				if i > 0 {
					h.Sleep(period)
				}
				if w.Look(); w.known.Led > i {
					return nil // a later one leads
				}
				w.known.Led = i + 1
				w.History()
				r := &store{world: w, h: h, client: client, behind: func() bool { return false }, rival: func() bool { return w.known.Led > i+1 }}
				var err error
				if r.s, err = w.lead(h, uint16(i+1)); err != nil {
					r.failed(err)
					return nil
				}
				w.opened(r.s)
				script(r)
				return nil
			}))...)
		}
		return nodes
	}
}

// services are the scenarios about the store alone.
func services() (out []*explore.Scenario) {
	for _, s := range append(alone[:len(alone):len(alone)], coordinated) {
		out = append(out, s.build())
	}
	return out
}
