package siftcheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcoord"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The coordination service on the store (package siftcoord). A key of the service is a key of model.KV: Create and Set put
// its value.

// coordination is the name of the service.
const coordination = "coord"

var coordinated = storeSpec{
	name: "coord", doc: "P3, P4, P8: the coordination service on the store; its coordinator may crash, or be replaced while it answers, and another node continues. Nothing that was acknowledged is lost, and no client reads a replaced value" + onService,
	faults: "crash(cpu1)<=1, timeout(cpu2)<=1", bounds: "2 CPU nodes, a snapshot after each record, a client that creates a key and sets it, each at most twice, and one that reads it",
	kv:    &kv.Config{Key: siftcoord.MinKey, Value: siftcoord.MinValue, Index: 4, Blocks: 12, Log: 12, Cache: 12},
	meets: []string{sawUnavailable, sawMadeAnew, sawAlreadyMade},
	nodes: func(w *world) []sim.Node {
		writer, reader := w.rec.Client("writer"), w.rec.Client("reader")
		return append(scenario.StayDown(w.coordinator("cpu1", 1)), w.coordinator("cpu2", 2),
			w.Host("writer", func(h host.Host) error { return w.coordinates(h, writer) }),
			w.Host("reader", func(h host.Host) error { return w.reads(h, reader) }))
	},
}

// Conditions of this scenario.
const (
	sawUnavailable = "a client does not know whether its request was carried out"
	sawMadeAnew    = "a request whose answer was missing had not been carried out"
	sawAlreadyMade = "a request whose answer was missing had been carried out"
)

// coordinator is a CPU node with a store and the service: the first leads at once, and the second when its timer fires.
func (w *world) coordinator(name string, term uint16) sim.Node {
	return w.Server(name, func(h host.Host) error {
		if term > 1 {
			h.Sleep(period)
		}
		server, err := kv.NewServer(h, *w.load.kv)
		if err != nil {
			return err
		}
		s, err := siftcoord.New(h, server, *w.load.kv, siftcoord.Config{Ticks: 1, Every: 1})
		if err != nil {
			return err
		}
		if store, err := w.lead(h, term); err == nil { // or the other node leads
			server.Use(store)
		}
		return s.Serve(coordination)
	})
}

// attempts is how many times a client tries each request.
const attempts = 2

// coordinates is a client that creates a key, and sets it. To set the key, the client asks the second node first. So the
// first node does not learn from the client that it was replaced.
func (w *world) coordinates(h host.Host, client *scenario.Client) error {
	first, err := siftcoord.NewClient(h, []string{"cpu1", "cpu2"}, coordination)
	then, err2 := siftcoord.NewClient(h, []string{"cpu2", "cpu1"}, coordination)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	_ = w.makes(h, client, "1", coord.ErrExists, func() error { return first.Create("a", []byte("1"), coord.NoSession) }) &&
		w.makes(h, client, "2", coord.ErrVersion, func() error { _, err := then.Set("a", []byte("2"), coord.FirstVersion); return err })
	return nil
}

// makes repeats a change until the client knows that it was made. If an earlier answer is missing, a refusal shows that.
func (w *world) makes(h host.Host, client *scenario.Client, value string, refused error, change func() error) bool {
	missing := false
	for range attempts {
		var err error
		again := client.Do(model.KVPut{Key: "a", Value: value}, func() (any, error) {
			if err = change(); errors.Is(err, refused) && missing {
				return model.Done{}, nil // as the put that it repeats
			}
			return model.Done{}, err
		})
		switch {
		case again == nil && missing && err == nil:
			w.Meet(sawMadeAnew)
			return true
		case again == nil && missing:
			w.Meet(sawAlreadyMade)
			return true
		case again == nil:
			return true
		case !errors.Is(again, coord.ErrUnavailable):
			w.Failf(KVFailed, "%w", again)
			return false
		}
		if missing = true; !errors.Is(again, siftcoord.ErrNoCoordinator) {
			w.Meet(sawUnavailable)
		}
		h.Sleep(period)
	}
	return false
}

// finds reads the key until there is an answer.
func (w *world) finds(h host.Host, client *scenario.Client, c coord.Client) {
	for range attempts {
		err := client.Do(model.KVGet{Key: "a"}, func() (any, error) {
			v, _, err := c.Get("a")
			if errors.Is(err, coord.ErrNotFound) {
				return model.KVValue{}, nil
			}
			return model.KVValue{Value: string(v), Found: err == nil}, err
		})
		if err == nil {
			return
		}
		h.Sleep(period)
	}
}

// reads is a client that reads the key.
func (w *world) reads(h host.Host, client *scenario.Client) error {
	c, err := siftcoord.NewClient(h, []string{"cpu1", "cpu2"}, coordination)
	if err != nil {
		return err
	}
	w.finds(h, client, c)
	return nil
}
