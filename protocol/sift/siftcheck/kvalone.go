package siftcheck

import (
	"errors"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

const onService = "; the memory is a service that does not fail"

var alone = []storeSpec{
	{
		name: "kv-delete", doc: "P4, P8: a key is deleted, and another one takes its block; the coordinator may crash, and what was applied is not applied again" + onService,
		faults: "crash(cpu1)<=1, crash(cpu2)<=1", bounds: "3 CPU nodes, 1 block, log of 3, a put, a delete, a put, 2 recoveries, 2 gets",
		kv:    tiny(func(c *kv.Config) { c.Log, c.Blocks = 3, 1 }),
		meets: []string{sawPutFound, sawPutLost, sawReplayed, sawAllApplied, sawReused},
		nodes: stored(func(r *store) {
			if r.put("a", "1") && r.remove("a") && r.put("b", "2") {
				r.Meet(sawReused)
				r.apply()
			}
		}, both, both),
	},
	{
		name: "kv-chain", doc: "P4, P8: three keys in one chain; the second is deleted, changed and put again; the coordinator may crash" + onService,
		faults: "crash(cpu1)<=1", bounds: "2 CPU nodes, 1 slot, 4 blocks, log of 3, cache of 2, 5 puts, 2 deletes, recovery, 3 gets",
		kv:    tiny(func(c *kv.Config) { c.Blocks, c.Log = 4, 3 }),
		meets: []string{sawPutFound, sawPutLost, sawReplayed, sawPinned},
		nodes: stored(func(r *store) {
			_ = r.put("a", "1") && r.put("b", "2") && r.put("c", "3") && r.remove("b") && r.put("c", "4") && r.put("b", "5") && r.remove("a") && r.apply()
		}, func(r *store) { r.getAll("a", "b", "c") }),
	},
	{
		name: "kv-cache", doc: "P4, P8, P10: a cache of one key beside a table with two: what is not applied stays in the cache" + onService,
		faults: "none", bounds: "1 CPU node, 1 slot, cache of 1, log of 2, 3 puts and 6 gets of 2 keys",
		kv:    tiny(func(c *kv.Config) { c.Cache = 1 }),
		meets: []string{sawPinned, sawHit, sawMiss, sawChain},
		nodes: stored(func(r *store) {
			_ = r.put("a", "1") && r.put("b", "2") && r.get("a") && r.get("b") && r.apply() && r.get("a") && r.walked("b") && r.put("a", "3") && r.get("b") && r.get("a")
		}),
	},
	{
		name: "kv-beside", doc: "P4, P8, P10: two puts, and a get by another task, beside the task that applies" + onService,
		faults: "none", bounds: "1 CPU node, cache of 1, log of 2, 2 puts, a get, and the task that applies",
		kv:    tiny(func(c *kv.Config) { c.Cache = 1 }),
		meets: []string{sawFound, sawAbsent},
		nodes: beside,
	},
	{
		name: "kv-early", doc: "P3, P4, P8: a get beside a put; the coordinator may crash, and another one must have what the get has seen" + onService,
		faults: "crash(cpu1)<=1", bounds: "2 CPU nodes, a put, a get by another task, recovery, a get",
		kv:    tiny(nil),
		meets: []string{sawFound, sawAbsent, sawPutFound, sawPutLost, sawReplayed},
		nodes: func(w *world) []sim.Node {
			return append(scenario.StayDown(early(w)), stored(func(*store) {}, func(r *store) { r.get("a") })(w)[1:]...)
		},
	},
	{
		name: "kv-full", doc: "P4, P8: a store without a free block refuses a new key, and keys and values that are too long, and continues; a delete makes room" + onService,
		faults: "none", bounds: "1 CPU node, 1 block, log of 2, 3 puts, 1 of a new key, 2 too long, a delete",
		kv:    tiny(func(c *kv.Config) { c.Blocks = 1 }),
		meets: []string{sawFull, sawTooLong, sawReused},
		nodes: stored(fill),
	},
	{
		name: "kv-replaced", doc: "P4, P5, P8: a CPU node replaces a coordinator at any time, which continues to read from its cache" + onService,
		faults: "none", timers: "free", bounds: "2 CPU nodes, 2 puts and 2 gets; a takeover and a put",
		kv:    tiny(func(c *kv.Config) { c.Blocks = 1 }),
		meets: []string{sawNotAnswered, sawAnswered, sawHit},
		nodes: stored(func(r *store) { _ = r.put("a", "1") && r.get("a") && r.apply() && r.get("a") }, func(r *store) { r.put("a", "2") }),
	},
	{
		name: "kv-clients", doc: "P4, P8: a client calls the coordinator over Send and Recv; the coordinator may crash, and another node takes its place and puts the same key. A put that may have been carried out is not repeated within one operation" + onService,
		faults: "crash(cpu1)<=1", bounds: "2 CPU nodes, a client with a put, which it makes anew if it is unknown, and a get; a get and a put at the second node, before it serves",
		kv:    tiny(func(c *kv.Config) { c.Blocks = 1 }),
		meets: []string{sawCarriedOut, sawNotCarriedOut, sawReplayed},
		nodes: called,
	},
}

// both reads the keys of kv-delete.
func both(r *store) { r.getAll("a", "b") }

// fill fills a store with one block.
func fill(r *store) {
	long := []byte(strings.Repeat("x", 9))
	key, value := r.s.Put(long, nil), r.s.Put([]byte("a"), long)
	if r.refused(key, kv.ErrTooLong, sawTooLong) && r.refused(value, kv.ErrTooLong, sawTooLong) &&
		r.put("a", "1") && r.refused(r.s.Put([]byte("b"), nil), kv.ErrFull, sawFull) &&
		r.put("a", "2") && r.get("b") && r.remove("a") && r.get("a") && r.put("b", "3") {
		r.Meet(sawReused)
		_ = r.get("a") && r.get("b")
	}
}

// beside is a coordinator with three tasks.
func beside(w *world) []sim.Node {
	client := w.rec.Client("cpu1")
	return []sim.Node{w.getting(func(h host.Host, s *kv.Store) {
		h.Go("apply", func() { h.Logf("%v", s.Apply()) })
		w.put(client, s, "a", "1")
		w.put(client, s, "b", "2")
	})}
}

// early is a coordinator with two tasks.
func early(w *world) sim.Node {
	client := w.rec.Client("cpu1")
	return w.getting(func(_ host.Host, s *kv.Store) {
		w.known.KV.Open, w.known.KV.Key = "1", "a"
		if w.put(client, s, "a", "1") {
			w.known.KV.Open = ""
			w.History()
		}
	})
}

// getting is a coordinator with a task that gets a key beside what it does.
func (w *world) getting(do func(h host.Host, s *kv.Store)) sim.Node {
	client := w.rec.Client("cpu1/get")
	return w.Host("cpu1", func(h host.Host) error {
		w.known.Led = 1
		w.History()
		s, err := w.lead(h, 1)
		if err != nil {
			return err
		}
		m := h.NewMutex()
		done := h.NewCond(m)
		over := false
		h.Go("get", func() {
			if got := w.get(client, s, "a"); got == "1" {
				w.Meet(sawFound)
			} else {
				w.Meet(sawAbsent)
			}
			m.Lock()
			over = true
			done.Signal()
			m.Unlock()
		})
		do(h, s)
		m.Lock()
		for !over {
			done.Wait()
		}
		m.Unlock()
		return nil
	})
}

// keeper is a store, or a client of one.
type keeper interface {
	Put(key, value []byte) error
}

// put makes a put, and reports whether it was acknowledged. If it was not, its outcome must be unknown.
// put does not look at the figures of the store: with several tasks, each look is one more step.
func (w *world) put(client *scenario.Client, s keeper, key, value string) bool {
	err := client.Do(model.KVPut{Key: key, Value: value}, func() (any, error) { return model.Done{}, s.Put([]byte(key), []byte(value)) })
	if err != nil && !errors.Is(err, kv.ErrUnknown) {
		w.Failf(KVFailed, "%w", err)
	}
	return err == nil
}

// get makes a get, and returns the value.
func (w *world) get(client *scenario.Client, s *kv.Store, key string) (value string) {
	return w.answered(client, key, func() ([]byte, bool, error) { return s.Get([]byte(key), nil) })
}

func (w *world) answered(client *scenario.Client, key string, get func() ([]byte, bool, error)) (value string) {
	err := client.Do(model.KVGet{Key: key}, func() (any, error) {
		v, found, err := get()
		value = string(v)
		return model.KVValue{Value: value, Found: found}, err
	})
	if err != nil {
		w.Failf(KVFailed, "%w", err)
	}
	return value
}

// called are two CPU nodes with servers, and a client.
func called(w *world) []sim.Node {
	one, two := w.rec.Client("client1"), w.rec.Client("cpu2")
	dies := w.Server("cpu1", func(h host.Host) error {
		s, err := kv.NewServer(h, *w.load.kv)
		if err != nil {
			return err
		}
		store, err := w.lead(h, 1)
		if err != nil {
			return nil // the second node leads
		}
		s.Use(store)
		return s.Serve()
	})
	return append(scenario.StayDown(dies),
		w.Host("cpu2", func(h host.Host) error { return w.second(h, two) }),
		w.Host("client1", func(h host.Host) error { return w.stubborn(h, one) }))
}

// second is the second node: another client, of its own store, and then a server.
func (w *world) second(h host.Host, client *scenario.Client) error {
	h.Sleep(period)
	w.known.Led = 2
	w.History()
	store, err := w.lead(h, 2)
	if err != nil {
		return err
	}
	w.opened(store)
	w.known.KV.Open = w.get(client, store, "a")
	w.put(client, store, "a", "2")
	s, err := kv.NewServer(h, *w.load.kv)
	if err != nil {
		return err
	}
	s.Use(store)
	h.Go("serve", func() { h.Logf("%v", s.Serve()) })
	h.Sleep(100 * period)
	return nil
}

// stubborn is a client that repeats a put if its outcome is unknown, and then gets the key.
func (w *world) stubborn(h host.Host, client *scenario.Client) error {
	c, err := kv.NewClient(h, kv.ClientConfig{Store: *w.load.kv, Nodes: []string{"cpu1", "cpu2"}, Rounds: 4, Pause: period, Timeout: period})
	if err != nil {
		return err
	}
	if !w.put(client, c, "a", "1") {
		w.put(client, c, "a", "1")
		w.Look()
		if w.known.KV.Open == "1" {
			w.Meet(sawCarriedOut)
		} else {
			w.Meet(sawNotCarriedOut)
		}
	}
	w.answered(client, "a", func() ([]byte, bool, error) { return c.Get([]byte("a")) })
	return c.Close()
}
