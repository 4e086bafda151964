package ycsb

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Sizes of keys and values, and the longest scan.
const (
	KeySize   = 24
	ValueSize = 100
	MaxScan   = 100
)

// Kind is the kind of an operation.
type Kind int

// The kinds.
const (
	Read Kind = iota
	Update
	Insert
	Scan
	ReadModifyWrite
	kinds
)

func (k Kind) String() string {
	return [...]string{"read", "update", "insert", "scan", "read-modify-write"}[k]
}

// Workload is a mix of operations.
type Workload struct {
	Name   string
	What   string
	Shares [kinds]int // percent
	Latest bool       // the newest records are the most popular
}

// Workloads are the core workloads.
var Workloads = []Workload{
	{Name: "A", What: "half updates", Shares: [kinds]int{Read: 50, Update: 50}},
	{Name: "B", What: "5 % updates", Shares: [kinds]int{Read: 95, Update: 5}},
	{Name: "C", What: "reads", Shares: [kinds]int{Read: 100}},
	{Name: "D", What: "5 % inserts, latest read", Shares: [kinds]int{Read: 95, Insert: 5}, Latest: true},
	{Name: "E", What: "5 % inserts, short scans", Shares: [kinds]int{Scan: 95, Insert: 5}},
	{Name: "F", What: "half read-modify-writes", Shares: [kinds]int{Read: 50, ReadModifyWrite: 50}},
}

// Names are the names of the workloads, in order.
func Names() []string {
	var names []string
	for i := range Workloads {
		names = append(names, Workloads[i].Name)
	}
	return names
}

// ByName finds a workload.
func ByName(name string) (*Workload, bool) {
	for i := range Workloads {
		if Workloads[i].Name == name {
			return &Workloads[i], true
		}
	}
	return nil, false
}

// Op is an operation on the record with the number Record, or on Length records from its key on.
type Op struct {
	Kind   Kind
	Record int
	Length int
}

// Generator draws the operations of a workload.
type Generator struct {
	w       *Workload
	rand    *rand.Rand
	records zipfian
}

// Generator returns a generator for a number of records and a seed.
func (w *Workload) Generator(records int, seed uint64) *Generator {
	g := &Generator{w: w, rand: rand.New(rand.NewPCG(seed, uint64(w.Name[0])))}
	g.records.grow(records)
	return g
}

// Records returns the number of records, including those of generated inserts.
func (g *Generator) Records() int { return g.records.n() }

// Next draws an operation.
func (g *Generator) Next() Op {
	op := Op{Kind: g.kind()}
	if op.Kind == Insert {
		op.Record = g.Records()
		g.records.grow(op.Record + 1)
		return op
	}
	op.Record = g.records.draw(g.rand)
	if g.w.Latest {
		op.Record = g.Records() - 1 - op.Record
	}
	if op.Kind == Scan {
		op.Length = 1 + g.rand.IntN(MaxScan)
	}
	return op
}

func (g *Generator) kind() Kind {
	at := g.rand.IntN(100)
	for k, share := range g.w.Shares {
		if at -= share; at < 0 {
			return Kind(k)
		}
	}
	panic(fmt.Sprintf("ycsb: the shares of workload %s are not 100 percent", g.w.Name))
}

// Value draws the value of an insert or an update into p, and returns it.
func (g *Generator) Value(p []byte) []byte { return value(g.rand, p) }

func value(r *rand.Rand, p []byte) []byte {
	p = p[:0]
	for len(p) < ValueSize {
		p = binary.LittleEndian.AppendUint64(p, r.Uint64())
	}
	return p[:ValueSize]
}

// Key writes the key of record i into p, and returns it.
func Key(p []byte, i int) []byte {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(i))) // it never fails
	return fmt.Appendf(p[:0], "user%020d", h.Sum64())
}

// Loaded returns the initial value of record i.
func Loaded(p []byte, i int, seed uint64) []byte {
	return value(rand.New(rand.NewPCG(seed, uint64(i))), p)
}
