package kvsoak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

const (
	commonKeys = 5
	ownKeys    = 40 // of each client
	// window is the largest number of operations on common keys in a round: the search for their order takes time.
	window = 1200
)

// store is the interface of clients: a [kv.Client].
type store interface {
	Put(key, value []byte) error
	Delete(key []byte) error
	Get(key []byte) (value []byte, found bool, err error)
}

// log records the operations of all clients.
type log struct {
	start time.Time

	mu                   sync.Mutex
	common               []porcupine.Operation   // on common keys, since the last comparison
	own                  map[string]*possibility // by key
	acked, gets, unknown int
	err                  error // an error that a client must not get
}

// possibility is a possible value of an own key. A missing key has no value.
type possibility struct{ values []string }

func newLog() *log { return &log{start: time.Now(), own: map[string]*possibility{}} }

func (l *log) now() int64 { return int64(time.Since(l.start)) }

// client is a client that issues operations all the time.
type client struct {
	id     int
	store  store
	log    *log
	rng    *rand.Rand
	serial int
}

// work does one operation.
func (c *client) work() {
	c.serial++
	value := fmt.Sprintf("%d.%d", c.id, c.serial)
	common := fmt.Sprintf("common%d", c.rng.IntN(commonKeys))
	switch kind := c.rng.IntN(20); {
	case kind < 8:
		c.do(model.KVPut{Key: common, Value: value}, func() (any, error) { return model.Done{}, c.store.Put([]byte(common), []byte(value)) })
	case kind < 10:
		c.do(model.KVDelete{Key: common}, func() (any, error) { return model.Done{}, c.store.Delete([]byte(common)) })
	case kind < 15:
		c.get(common)
	default:
		c.putOwn(fmt.Sprintf("own%d.%d", c.id, c.rng.IntN(ownKeys)), value)
	}
}

func (c *client) get(key string) {
	c.do(model.KVGet{Key: key}, func() (any, error) {
		v, found, err := c.store.Get([]byte(key))
		return model.KVValue{Value: string(v), Found: found}, err
	})
}

// do executes an operation on a common key and records it. It does not record operations that were not executed, or gets
// without an answer.
func (c *client) do(op any, do func() (any, error)) {
	call := c.log.now()
	output, err := do()
	at := c.log.now()
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if _, get := op.(model.KVGet); get && err == nil {
		c.log.gets++
	} else if !get {
		c.log.count(err)
	}
	switch {
	case err == nil:
	case errors.Is(err, kv.ErrUnknown):
		output, at = model.NoReply{}, model.Never
	default:
		c.log.fail(err)
		return
	}
	c.log.common = append(c.log.common, porcupine.Operation{ClientId: c.id, Input: op, Call: call, Output: output, Return: at})
}

// count counts a put or a delete.
func (l *log) count(err error) {
	if err == nil {
		l.acked++
	} else if errors.Is(err, kv.ErrUnknown) {
		l.unknown++
	}
}

// fail records an error that a client must not get.
func (l *log) fail(err error) {
	if !errors.Is(err, kv.ErrUnavailable) && l.err == nil {
		l.err = err
	}
}

// putOwn puts a key that no other client touches.
func (c *client) putOwn(key, value string) {
	err := c.store.Put([]byte(key), []byte(value))
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.count(err)
	p := c.log.own[key]
	if p == nil {
		p = &possibility{values: []string{""}}
		c.log.own[key] = p
	}
	switch {
	case err == nil:
		p.values = []string{value}
	case errors.Is(err, kv.ErrUnknown):
		p.values = append(p.values, value)
	default:
		c.log.fail(err)
	}
}

// full reports whether the round has enough operations.
func (l *log) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.common) >= window
}

// done returns the number of acknowledged operations.
func (l *log) done() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked + l.gets
}
