package cost

import (
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/raftr"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Keys and values of the paper's workload (6.2), in bytes.
const (
	keySize   = 32
	valueSize = 992
)

// keys is the number of keys that are put in turn. All exist before the count begins.
const keys = 4

// CountStore runs the key-value store of protocol/sift/kv in the simulator, and counts the requests that
// a put of an existing key posts to the card of the coordinator: its entry in the store's log, a Read of
// the chain of the key, the list of updates in the memory's log, and the updates. With codes a value may
// be some bytes longer, so that a block divides into chunks of whole words.
func CountStore(f int, codes bool) (Put, error) {
	shape := kv.Config{Key: keySize, Value: valueSize, Index: 8 * keys, Blocks: 2 * keys, Log: 8, Cache: keys}
	x := Put{System: "Sift", F: f}
	chunks := 0
	if codes {
		x.System, chunks = "Sift EC", f+1
		for shape.Layout(1).Block%(8*chunks) != 0 {
			shape.Value++ // until a block divides into chunks of whole words
		}
	}
	l := shape.Layout(8)
	if l.Chunks = chunks; codes {
		l.Entry = 4 * (8 + l.Block) // the log has the whole block of each update
	}
	cfg := group(f, l)
	cfg.Missed, cfg.Lease = 3, 2*cfg.Period // without a lease a heartbeat would confirm each read of a chain
	var c counter
	err := inWorld(&cfg, func(h host.Host) error {
		h = &counting{Host: h, c: &c}
		n, err := sift.Start(h, cfg)
		if err != nil {
			return err
		}
		memory, err := n.Follow()
		if err != nil {
			return err
		}
		store, err := kv.Open(h, memory, shape)
		if err != nil {
			return err
		}
		return c.puts(func(key string) error {
			if err := store.Put([]byte(key), make([]byte, valueSize)); err != nil {
				return err
			}
			if _, err := store.ApplyOne(); err != nil {
				return err
			}
			for memory.ApplyOne() {
			}
			return nil
		})
	})
	return c.perPut(x, "sift/kv", err)
}

// CountRaftR runs protocol/raftr in the simulator, and counts the requests that a put posts to the cards
// of all nodes, and the bytes that leave the leader.
func CountRaftR(f int) (Put, error) {
	cfg := raftr.Config{New: true, Log: 1 << 10, Value: valueSize, Election: time.Hour, CallTimeout: verbs.Forever}
	for i := range 2*f + 1 {
		cfg.Nodes = append(cfg.Nodes, fmt.Sprint("n", i+1))
	}
	var c, others counter
	start := func(h host.Host, c *counter) (*raftr.Node, error) {
		n, err := raftr.Start(&counting{Host: h, c: c}, cfg)
		if err == nil {
			h.Go("peers", func() { h.Logf("%v", n.Serve()) })
		}
		return n, err
	}
	err := run(cfg.Nodes[0], func(h host.Host) error {
		n, err := start(h, &c)
		if err != nil {
			return err
		}
		if n.Connect(); n.Linked() != len(cfg.Nodes)-1 {
			return fmt.Errorf("%d of %d nodes are connected", n.Linked(), len(cfg.Nodes)-1)
		}
		if _, err := n.Campaign(); err != nil {
			return err
		}
		if err := n.Lead(); err != nil {
			return err
		}
		before := others
		err = c.puts(func(key string) error {
			if c == (counter{}) {
				before = others
			}
			err := n.Put(key, string(make([]byte, valueSize)))
			h.Sleep(time.Millisecond) // until the other nodes have the entry too
			return err
		})
		others.requests -= before.requests
		return err
	}, cfg.Nodes[1:], func(h host.Host) error {
		n, err := start(h, &others)
		if err == nil {
			h.Sleep(time.Hour)
			err = n.Close()
		}
		return err
	})
	c.requests += others.requests
	return c.perPut(Put{System: "Raft-R", F: f}, "protocol/raftr", err)
}

// puts puts each key once, and then counts puts of them.
func (c *counter) puts(put func(key string) error) error {
	for i := range keys + counted {
		if i == keys {
			*c = counter{} // elections, recoveries and new keys are not counted
		}
		if err := put(fmt.Sprintf("%0*d", keySize, i%keys)); err != nil {
			return err
		}
	}
	return nil
}

// perPut returns the mean of the counts.
func (c *counter) perPut(x Put, by string, err error) (Put, error) {
	if err != nil {
		return Put{}, fmt.Errorf("count puts of %s with F=%d: %w", by, x.F, err)
	}
	x.Requests, x.Bytes = (c.requests+counted/2)/counted, (c.bytes+counted/2)/counted
	x.Most = int(link / float64(x.Bytes))
	x.Source = fmt.Sprintf("counted: %d puts by %s in the simulator", counted, by)
	if c.requests%counted != 0 || c.bytes%counted != 0 {
		x.Source += ", the mean"
	}
	return x, nil
}

// group configures a group of Sift.
func group(f int, l sift.Layout) sift.Config {
	cfg := sift.Config{Node: 1, Period: time.Millisecond, Missed: 1, BackOff: time.Millisecond, CallTimeout: verbs.Forever, Layout: l}
	for i := range 2*f + 1 {
		cfg.Memory = append(cfg.Memory, fmt.Sprint("mem", i+1))
	}
	return cfg
}

// straight always takes the first choice.
type straight struct{}

func (straight) Pick([]sim.Event) int           { return 0 }
func (straight) Choose(sim.ChoiceKind, int) int { return 0 }
