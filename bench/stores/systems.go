package stores

import (
	"fmt"
	"math"
	"time"

	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/raftr"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// client is a client of a store. Only one goroutine may use it at a time.
type client interface {
	Put(key, value []byte) error
	Get(key []byte) (found bool, err error)
}

// system is a running store.
type system struct {
	name string
	dial func() (client, error)
	all  *machines
}

// Systems are the names of the systems that can be measured.
var Systems = []string{"sift", "sift-ec", "raftr"}

// Times of the groups. A leader that is busy must not be replaced, so they are longer than the paper's.
const (
	period   = 100 * time.Millisecond
	missed   = 20
	election = missed * period
	patience = 30 * time.Second // until a group has a leader
)

// clientHost is the host of all clients of a group.
const clientHost = "clients"

func (c *Config) start(name string) (*system, error) {
	s := &system{name: name, all: &machines{open: c.Open, logf: c.Logf}}
	start := map[string]func(*system) error{
		"sift":    func(s *system) error { return c.startSift(s, 0) },
		"sift-ec": func(s *system) error { return c.startSift(s, c.F+1) },
		"raftr":   c.startRaftR,
	}[name]
	err := start(s)
	if err != nil {
		_ = s.all.close() // the first error counts
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return s, nil
}

// startSift starts F+1 CPU nodes and 2F+1 memory nodes. A block has the given number of chunks; 0: no codes.
func (c *Config) startSift(s *system, chunks int) error {
	shape, l := c.siftShape(chunks)
	node := sift.Config{Layout: l, Period: period, Missed: missed, Lease: election / 2, BackOff: period, CallTimeout: period}
	var cpus []string
	for i := range 2*c.F + 1 {
		node.Memory = append(node.Memory, fmt.Sprint("mem", i+1))
	}
	for i := range c.F + 1 {
		cpus = append(cpus, fmt.Sprint("cpu", i+1))
	}
	if err := s.all.add(append(append(node.Memory[:len(node.Memory):len(node.Memory)], cpus...), clientHost)...); err != nil {
		return err
	}
	for _, name := range node.Memory {
		h := s.all.host(name)
		serve(h, "memory", func() error { return sift.ServeMemory(h, sift.MemoryConfig{Layout: l, New: true}) })
	}
	for i, name := range cpus {
		h, own := s.all.host(name), node
		own.Node = uint16(i + 1)
		serve(h, "store", func() error { return kv.Run(h, own, shape) })
	}
	s.dial = func() (client, error) {
		x, err := kv.NewClient(s.all.host(clientHost), kv.ClientConfig{Store: shape, Nodes: cpus, Rounds: int(patience / period), Pause: period, Timeout: election})
		return siftClient{x}, err
	}
	return nil
}

// siftShape returns the shape of the store and of its memory.
func (c *Config) siftShape(chunks int) (kv.Config, sift.Layout) {
	shape := kv.Config{Key: ycsb.KeySize, Value: ycsb.ValueSize, Index: 8 * c.keys(), Blocks: c.keys(), Log: 1 << 10, Cache: max(1, c.Records/2)}
	for chunks > 0 && shape.Layout(2).Block%(8*chunks) != 0 {
		shape.Value++ // until a block divides into chunks of whole words
	}
	l := shape.Layout(64)
	if l.Chunks = chunks; chunks > 0 {
		l.Entry = 4 * (8 + l.Block) // the log has the whole block of each update
	}
	return shape, l
}

type siftClient struct{ *kv.Client }

func (c siftClient) Get(key []byte) (bool, error) {
	_, found, err := c.Client.Get(key)
	return found, err
}

// startRaftR starts 2F+1 nodes.
func (c *Config) startRaftR(s *system) error {
	cfg := raftr.Config{New: true, Log: c.writes(), Value: ycsb.ValueSize, Election: election, Lease: election / 2, CallTimeout: period, KeepAlive: election}
	for i := range 2*c.F + 1 {
		cfg.Nodes = append(cfg.Nodes, fmt.Sprint("n", i+1))
	}
	if err := s.all.add(append(cfg.Nodes[:len(cfg.Nodes):len(cfg.Nodes)], clientHost)...); err != nil {
		return err
	}
	for _, name := range cfg.Nodes {
		h := s.all.host(name)
		n, err := raftr.Start(h, cfg)
		if err != nil {
			return err
		}
		serve(h, "peers", n.Serve)
		serve(h, "clients", n.ServeClients)
		serve(h, "raft", func() error { return n.Run(nil) })
	}
	s.dial = func() (client, error) {
		x, err := raftr.Dial(s.all.host(clientHost), raftr.ClientConfig{Nodes: cfg.Nodes, Timeout: election, Rounds: int(patience / period), Pause: period})
		return raftClient{x}, err
	}
	return nil
}

type raftClient struct{ c *raftr.Client }

func (c raftClient) Put(key, value []byte) error { return c.c.Put(string(key), string(value)) }
func (c raftClient) Get(key []byte) (bool, error) {
	_, found, err := c.c.Get(string(key))
	return found, err
}

// serve runs a task of a node until its host is closed.
func serve(h host.Host, name string, f func() error) {
	h.Go(name, func() { h.Logf("%s: %v", name, f()) })
}

// keys returns the largest number of keys: in each round, clients insert from the same record on.
func (c *Config) keys() int { return c.Records + c.Operations }

// writes returns the largest number of entries in the log of Raft-R, which is never compacted: at most one for each
// operation, one for each client's session, and some for elections.
func (c *Config) writes() int { return c.Records + c.operations() + math.MaxUint16 }

// operations returns the number of operations in all rounds.
func (c *Config) operations() int { return len(c.Workloads) * c.Rounds * c.Operations }
