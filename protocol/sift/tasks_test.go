package sift

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

// crew are tasks that a test waits for.
type crew struct {
	h    host.Host
	mu   host.Mutex
	done host.Cond
	left int
}

func newCrew(h host.Host) *crew {
	c := &crew{h: h, mu: h.NewMutex()}
	c.done = h.NewCond(c.mu)
	return c
}

// work starts a task.
func (c *crew) work(name string, do func()) {
	c.left++
	c.h.Go(name, func() {
		do()
		c.mu.Lock()
		c.left--
		c.done.Signal()
		c.mu.Unlock()
	})
}

// wait waits until all tasks have ended.
func (c *crew) wait() {
	c.mu.Lock()
	for c.left > 0 {
		c.done.Wait()
	}
	c.mu.Unlock()
}

// slowStore is a store beside whose methods other tasks act. Entries must come in order.
type slowStore struct {
	kept
	t  *testing.T
	mu host.Mutex
}

func (s *slowStore) Persist(e Entry) error {
	for range 3 { // others may act meanwhile
		s.mu.Lock()
		s.mu.Unlock() //lint:ignore SA2001 it is a moment for others
	}
	if e.Index != s.s.Index+1 {
		s.t.Errorf("entry %d is to be durable after entry %d", e.Index, s.s.Index)
	}
	return s.kept.Persist(e)
}

// inOrder checks that entries are sent to every node in the order of the log.
func inOrder(t *testing.T, c *Coordinator) {
	c.enter()
	defer c.leave()
	for c.stopped == nil {
		for _, r := range c.nodes {
			for i, m := range r.appended {
				if m.index != r.appended[0].index+uint64(i) || m.index <= r.has {
					t.Errorf("%s has entry %d, and then gets %v", r.Peer, r.has, r.appended)
				}
			}
		}
		c.changed.Wait()
	}
}

// Tasks that write, read, apply and persist at the same time see one memory, in whatever order events
// come: lists as a whole, each entry applied and made durable once. Nobody waits forever, and Close
// waits for all. The entries go around the log and the send queues.
func TestTasksSeeOneMemory(t *testing.T) {
	const area, begin, n = 160, 30, 100
	for _, chunks := range []int{0, 2} {
		cfg := config()
		cfg.Layout = Layout{Size: 5 * area, Block: area, Chunks: chunks, Slots: 3, Entry: 3 * (8 + area)}
		for seed := range uint64(40) {
			cfg.QueueDepth = 4 << (seed % 2 * 3) // with short ones tasks wait, and with long ones nodes are slow
			store := &slowStore{t: t, kept: kept{size: cfg.Size}}
			cfg.Durable = store
			crashingIn(t, anyRun{rand.New(rand.NewPCG(seed, 0))}, &cfg, "", func(h host.Host, _ func(string)) {
				store.mu = h.NewMutex()
				c := lead(t, h, cfg)
				background, work := newCrew(h), newCrew(h)
				for i := range 2 {
					background.work(fmt.Sprint("apply", i), c.Apply)
					background.work(fmt.Sprint("persist", i), c.Persist)
				}
				background.work("order", func() { inOrder(t, c) })
				for i := range 3 {
					work.work(fmt.Sprint("write", i), func() {
						for k := range 3 {
							x := byte(16*i + k + 1)
							list := []Update{{Addr: i * area, Data: bytes.Repeat([]byte{x}, area-8)}}
							for shared := 3; shared < 5 && k != 1; shared++ {
								list = append(list, Update{Addr: shared*area + begin, Data: bytes.Repeat([]byte{x}, n)})
							}
							if err := c.WriteAll(list); err != nil {
								t.Error(err)
							}
						}
					})
				}
				for i := range 2 {
					work.work(fmt.Sprint("read", i), func() {
						p := make([]byte, 2*area)
						for range 4 {
							if err := c.Read(3*area, p); err != nil {
								t.Error(err)
							}
							a, b := p[begin:begin+n], p[area+begin:area+begin+n]
							if !bytes.Equal(a, b) || !bytes.Equal(a, bytes.Repeat(a[:1], n)) {
								t.Errorf("a part of a list: %x and %x", a, b)
							}
						}
					})
				}
				work.wait()
				c.mu.Lock()
				for c.applied < c.last || c.persisted < c.last {
					c.changed.Wait()
				}
				if len(c.locks.held) > 0 || c.last != 9 {
					t.Errorf("after entry %d blocks are locked: %v", c.last, c.locks.held)
				}
				c.mu.Unlock()
				got := make([]byte, cfg.Size)
				if err := c.Read(0, got); err != nil || !bytes.Equal(got, store.s.Memory) {
					t.Errorf("%v: the memory is\n%x, and the store has\n%x", err, got, store.s.Memory)
				}
				if chunks == 0 {
					same(t, c)
				}
				if err := c.Close(); err != nil || c.users != 0 {
					t.Errorf("%v: closed with %d users", err, c.users)
				}
				background.wait()
			})
			if t.Failed() {
				t.Fatalf("chunks %d, seed %d", chunks, seed)
			}
		}
	}
}

// A read that waits for a place goes on when another one has given its own back, although nothing else
// happens then. Here it looks once more before that: another task takes the completions for all.
func TestAPlaceThatIsFreeIsTold(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		c, tasks := lead(t, h, cfg), newCrew(h)
		read := func() {
			if err := c.ReadDirect(0, make([]byte, 8)); err != nil {
				t.Error(err)
			}
		}
		c.mu.Lock()
		c.polling = true
		places := c.places
		c.places = nil
		c.mu.Unlock()
		tasks.work("waits", read)
		h.Sleep(1)
		c.mu.Lock()
		c.places = places
		c.mu.Unlock()
		for i := range places {
			tasks.work(fmt.Sprint("read", i), read)
			h.Sleep(1)
		}
		c.mu.Lock()
		for range places {
			cq, err := c.group.Ready()
			if err != nil {
				t.Error(err)
			}
			c.group.Collect(conns(c.nodes), cq)
		}
		c.polling = false
		c.changed.Broadcast()
		c.mu.Unlock()
		tasks.wait()
	})
}

// Tasks that each write a part of one block at the same time all have it, in whatever order events come:
// what a write keeps of the block is still true when it is appended.
func TestTasksWritePartsOfOneBlock(t *testing.T) {
	cfg := coded(1)
	for seed := range uint64(100) {
		crashingIn(t, anyRun{rand.New(rand.NewPCG(seed, 0))}, &cfg, "", func(h host.Host, _ func(string)) {
			c, tasks := lead(t, h, cfg), newCrew(h)
			for i := range 4 {
				tasks.work(fmt.Sprint("task", i), func() {
					if err := c.Write(4*i, bytes.Repeat([]byte{byte('a' + i)}, 4)); err != nil {
						t.Error(err)
					}
				})
			}
			tasks.wait()
			got := make([]byte, 16)
			if err := c.Read(0, got); err != nil || string(got) != "aaaabbbbccccdddd" {
				t.Errorf("seed %d: %v: %q", seed, err, got)
			}
		})
	}
}

// While a task reads the rest of a block, others may take the room that it had found in the log. Chunks that do not go inline
// are sent later, so each entry of the log has a place for its own.
func TestTasksThatReadTheRestOfABlockWaitForRoomAgain(t *testing.T) {
	cfg := coded(1)
	cfg.Block = 1024
	cfg.Size, cfg.Entry = 4*cfg.Block, 8+cfg.Block
	for seed := range uint64(50) {
		cfg.Slots = 2 + 2*int(seed%2)
		crashingIn(t, anyRun{rand.New(rand.NewPCG(seed, 0))}, &cfg, "", func(h host.Host, _ func(string)) {
			c, tasks := lead(t, h, cfg), newCrew(h)
			want := make([]byte, cfg.Size)
			for i := range cfg.Size / cfg.Block {
				part := fmt.Append(nil, "part ", i)
				copy(want[i*cfg.Block:], part)
				tasks.work(fmt.Sprint("task", i), func() {
					if err := c.Write(i*cfg.Block, part); err != nil {
						t.Error(err)
					}
				})
			}
			tasks.wait()
			got := make([]byte, cfg.Size)
			c.group.Fail(c.nodes[0].Conn, host.ErrTimeout) // so that parity chunks are read
			if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("seed %d: %v: the memory is another one", seed, err)
			}
		})
	}
}
