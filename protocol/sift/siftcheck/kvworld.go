package siftcheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// Classes of violations of the store.
const (
	WrongError = "wrong-error" // a request outside the limits has another result than its error
	KVFailed   = "store-failed"
)

// Conditions of the store.
const (
	sawPutFound    = "a recovery carried out a put that was not acknowledged"
	sawPutLost     = "a recovery found nothing of a put that was not acknowledged"
	sawReplayed    = "a recovery replayed operations"
	sawAllApplied  = "a recovery found that all operations had been applied"
	sawRewritten   = "a recovery wrote an operation to a node that did not have it"
	sawChain       = "a get walked a chain of two"
	sawHit         = "a get found its key in the cache"
	sawMiss        = "a get read the memory"
	sawPinned      = "a put waited until another key in the cache was applied"
	sawLogFull     = "a put waited until the log had room"
	sawReused      = "a put took the block of a deleted key"
	sawFull        = "a put was refused, as the store was full"
	sawTooLong     = "a key and a value were refused as too long"
	sawNotAnswered = "a replaced coordinator did not answer from its cache"
	sawAnswered    = "a coordinator answered from its cache while another one stood for election"
)

// Conditions of clients.
const (
	sawCarriedOut    = "a put that a client made anew had been carried out"
	sawFound         = "a get found a put beside it"
	sawAbsent        = "a get did not find a put beside it"
	sawNotCarriedOut = "a put that a client made anew had not been carried out, or was overwritten"
)

// kvKnown is what the checks of a store remember.
type kvKnown struct {
	Open  string // the value of a put that was called and not acknowledged
	Key   string // its key
	Calls int    // operations that were acknowledged
}

// store is a CPU node that serves a key-value store.
type store struct {
	*world
	h      host.Host
	client *scenario.Client
	s      *kv.Store
	behind func() bool // applies what is in the memory's log
	rival  func() bool // another node may have replaced this one
}

// storing opens the store of a coordinator.
func storing(do func(r *store)) func(r *run) {
	return func(r *run) {
		s, err := kv.Open(r.h, r.c, *r.load.kv)
		if err != nil {
			r.tolerates(err)
			return
		}
		r.opened(s)
		do(&store{world: r.world, h: r.h, client: r.client, s: s, behind: r.c.ApplyOne, rival: r.rivaled})
	}
}

// opened meets conditions about what a recovery has found.
func (w *world) opened(s *kv.Store) {
	found := s.Recovered()
	if w.Look(); w.known.Led > 1 {
		if found.Replayed > 0 {
			w.Meet(sawReplayed)
		} else if w.known.KV.Calls > 0 {
			w.Meet(sawAllApplied)
		}
	}
	if found.Rewritten > 0 {
		w.Meet(sawRewritten)
	}
}

// failed reports false. Only a coordinator that was replaced may fail.
func (r *store) failed(err error) bool {
	if r.Look(); !r.rival() {
		r.Failf(KVFailed, "%w", err)
	}
	return false
}

func (r *store) put(key, value string) bool {
	before := r.s.Stats()
	pinned := before.Pending > 0 && before.Pending == r.load.kv.Cache && !r.s.Cached([]byte(key))
	r.known.KV.Open, r.known.KV.Key = value, key
	err := r.client.Do(model.KVPut{Key: key, Value: value}, func() (any, error) { return model.Done{}, r.s.Put([]byte(key), []byte(value)) })
	if err != nil {
		return r.failed(err)
	}
	r.acknowledged()
	if before.Pending == r.load.kv.Log {
		r.Meet(sawLogFull)
	} else if pinned {
		r.Meet(sawPinned)
	}
	return true
}

// acknowledged records that an operation has been acknowledged.
func (r *store) acknowledged() {
	r.known.KV.Open = ""
	r.known.KV.Calls++
	r.History()
}

func (r *store) remove(key string) bool {
	r.known.KV.Open = ""
	err := r.client.Do(model.KVDelete{Key: key}, func() (any, error) { return model.Done{}, r.s.Delete([]byte(key)) })
	if err != nil {
		return r.failed(err)
	}
	r.acknowledged()
	return true
}

// apply applies an operation, and the memory's own log.
func (r *store) apply() bool {
	if _, err := r.s.ApplyOne(); err != nil {
		return r.failed(err)
	}
	r.behind()
	return true
}

// get reads a key.
func (r *store) get(key string) bool {
	hit := r.s.Cached([]byte(key))
	var got string
	var found bool
	err := r.client.Do(model.KVGet{Key: key}, func() (any, error) {
		v, ok, err := r.s.Get([]byte(key), nil)
		got, found = string(v), ok
		return model.KVValue{Value: got, Found: ok}, err
	})
	if err != nil {
		if r.Look(); hit && r.rival() {
			r.Meet(sawNotAnswered)
		}
		return r.failed(err)
	}
	r.Look()
	switch {
	case hit && r.rival():
		r.Meet(sawAnswered)
	case hit:
		r.Meet(sawHit)
	default:
		r.Meet(sawMiss)
	}
	r.look(key, got, found)
	return true
}

// look meets conditions about what a get has found.
func (r *store) look(key, got string, found bool) {
	known := &r.known.KV
	if known.Open != "" && known.Key == key {
		if found && got == known.Open {
			r.Meet(sawPutFound)
		} else {
			r.Meet(sawPutLost)
		}
	}
}

// getAll reads keys, as the last coordinator.
func (r *store) getAll(keys ...string) {
	for _, k := range keys {
		if !r.get(k) {
			return
		}
	}
}

// walked reads a key that is not the first in its chain.
func (r *store) walked(key string) bool {
	hit := r.s.Cached([]byte(key))
	if !r.get(key) {
		return false
	}
	if !hit {
		r.Meet(sawChain)
	}
	return true
}

// refused checks that an operation fails with an error, and that the store continues.
func (r *store) refused(err, want error, meets string) bool {
	if !errors.Is(err, want) {
		r.Fail(scenario.Failed(WrongError, "the error is %w, and not %w", err, want))
		return false
	}
	r.Meet(meets)
	return true
}
