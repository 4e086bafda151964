package kvsoak

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// budget bounds the search for an order of the operations of a round.
var budget = model.Budget{Steps: 1 << 23, Wall: 20 * time.Second}

// edge is a key that is put between two rounds. Once the put is acknowledged, earlier operations with an unknown outcome
// can no longer take effect.
const edge = "edge"

// settle puts the edge. Then the outcome of each earlier operation is decided.
func settle(s store, round int) error {
	for {
		err := s.Put([]byte(edge), fmt.Appendf(nil, "%d", round))
		if !errors.Is(err, kv.ErrUnknown) {
			return err
		}
	}
}

// compare compares the content of the store with the operations of clients since the last comparison. No client works
// meanwhile, and the store is settled. It returns the number of acknowledged values that it has compared, and the number
// of operations that have an order.
func (l *log) compare(s store) (compared, ordered int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, err := l.read(s)
	if err != nil {
		return 0, 0, err
	}
	switch r := model.CheckOperations(model.KV{}, l.common, budget); r.Verdict {
	case model.Illegal:
		return 0, 0, &ViolationError{model.Explain(model.KV{}, r, budget)}
	case model.Unknown:
		return 0, 0, fmt.Errorf("%w: %v", ErrUndecided, r.Why)
	}
	ordered, l.common = len(l.common), known
	compared, err = l.compareOwn(s)
	return compared, ordered, err
}

// read reads all common keys as a last client, and returns the content as puts.
func (l *log) read(s store) (known []porcupine.Operation, err error) {
	for i := range commonKeys {
		key := fmt.Sprint("common", i)
		call := l.now()
		v, found, err := s.Get([]byte(key))
		if err != nil {
			return nil, err
		}
		got := porcupine.Operation{ClientId: -1, Input: model.KVGet{Key: key}, Call: call, Output: model.KVValue{Value: string(v), Found: found}, Return: l.now()}
		l.common = append(l.common, got)
		if found {
			known = append(known, porcupine.Operation{ClientId: -1, Input: model.KVPut{Key: key, Value: string(v)}, Call: got.Call, Output: model.Done{}, Return: got.Return})
		}
	}
	return known, nil
}

// compareOwn compares the keys that only one client puts.
func (l *log) compareOwn(s store) (compared int, err error) {
	for key, p := range l.own { //lint:ordered all are compared
		v, found, err := s.Get([]byte(key))
		if err != nil {
			return compared, err
		}
		got := string(v)
		if !found && got != "" || !slices.Contains(p.values, got) || found && got == "" {
			return compared, &ViolationError{fmt.Sprintf("key %s has value %q (found: %v); want one of %q: the first was acknowledged, the others may have been executed", key, got, found, p.values)}
		}
		p.values = []string{got}
		compared++
	}
	return compared, nil
}
