package explore

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The table of states. A state is identified by its fingerprint. Besides that the table
// keeps how the state was first reached, so that a run can return to it, and which
// actors no run has tried there because their steps are tried elsewhere (sleep.go). It
// keeps no edges, and nothing that depends on later states. So workers share no lock
// but that of one shard at a time.

// stateID is a state: its number in its shard, and the shard.
type stateID uint32

// noState precedes the initial state.
const noState = ^stateID(0)

const (
	shards    = 64
	maxRows   = uint32(noState) / shards // of a shard
	chunkSize = 1 << 10
)

// state is one row. Memory bounds a search, so everything that repeats is a number in a
// lexicon.
type state struct {
	Print  fingerprint.Print
	Parent stateID
	Via    uint32 // the move from parent to here, in states.moves
	Order  uint32 // which interchangeable host stands where, in states.orders
	Asleep uint32 // actors not tried here, in states.sleeps, under the names that order gives
}

// move is one step: an actor and the choices it made.
type move struct {
	Actor sim.Actor
	Inner []uint32
}

// states are all states found by a search.
type states struct {
	shard  [shards]shard
	moves  lexicon[move]
	orders lexicon[[]uint8]
	sleeps lexicon[[]sim.Actor]
	// tree: no state is recognised (see Options.tree).
	tree bool
}

// shard holds the states whose fingerprints end in the same bits.
type shard struct {
	mu    sync.Mutex
	rows  atomic.Pointer[[]*[chunkSize]state] // existing rows do not move
	n     int
	index []uint32 // open addressing: 1 + the number of a row, 0 is free
	_     [64]byte // shards do not share a cache line
}

func (t *states) init(tree bool) {
	t.tree = tree
	for i := range t.shard {
		t.shard[i].rows.Store(&[]*[chunkSize]state{})
		t.shard[i].index = make([]uint32, 64)
	}
}

// len counts the states.
func (t *states) len() (n uint64) {
	for i := range t.shard {
		s := &t.shard[i]
		s.mu.Lock()
		n += uint64(s.n)
		s.mu.Unlock()
	}
	return n
}

// row returns the row of a state. The shard's lock protects its field asleep; the
// others never change.
func (t *states) row(id stateID) *state {
	return t.shard[id%shards].row(uint32(id / shards))
}

func (s *shard) row(i uint32) *state { return &(*s.rows.Load())[i/chunkSize][i%chunkSize] }

// enter adds a state, or finds it. Of a known state it returns the actors that slept
// there and must now be tried, since they do not sleep for this visitor, and those that
// keep sleeping (sleep.go explains why that suffices).
func (t *states) enter(x state) (id stateID, known bool, wake, left []sim.Actor) {
	at := uint32(x.Print.A % shards)
	s := &t.shard[at]
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.find(x.Print, t.tree)
	if s.index[slot] == 0 {
		i := s.add(x, slot)
		return stateID(i*shards + at), false, nil, nil
	}
	i := s.index[slot] - 1
	r := s.row(i)
	if r.Asleep != x.Asleep {
		was, is := t.sleeps.at(r.Asleep), t.sleeps.at(x.Asleep)
		for _, a := range was {
			if slices.Contains(is, a) {
				left = append(left, a)
			} else {
				wake = append(wake, a)
			}
		}
		r.Asleep = t.sleepID(left)
	}
	return stateID(i*shards + at), true, wake, left
}

// find returns the slot of a fingerprint, or the free one where it belongs.
func (s *shard) find(p fingerprint.Print, tree bool) uint32 {
	mask := uint32(len(s.index) - 1)
	for i := uint32(p.B) & mask; ; i = (i + 1) & mask {
		if n := s.index[i]; n == 0 || !tree && s.row(n-1).Print == p {
			return i
		}
	}
}

func (s *shard) add(x state, slot uint32) uint32 {
	i := uint32(s.n)
	if i >= maxRows {
		panic(&sim.LimitError{What: "states", Max: int(maxRows) * shards})
	}
	if s.n%chunkSize == 0 {
		rows := append(slices.Clone(*s.rows.Load()), new([chunkSize]state))
		s.rows.Store(&rows)
	}
	*s.row(i) = x
	s.n++
	s.index[slot] = i + 1
	if s.n*4 > len(s.index)*3 {
		s.index = make([]uint32, 2*len(s.index))
		for j := range uint32(s.n) {
			s.index[s.find(s.row(j).Print, true)] = j + 1
		}
	}
	return i
}

// pathTo appends the moves from the initial state to a state.
func (t *states) pathTo(id stateID, out []move) []move {
	for id != noState {
		r := t.row(id)
		if id = r.Parent; id != noState {
			out = append(out, t.moves.at(r.Via))
		}
	}
	slices.Reverse(out)
	return out
}

// lexicon numbers values that recur. Number 0 is the zero value.
type lexicon[T any] struct {
	mu  sync.RWMutex
	ids map[string]uint32
	all atomic.Pointer[[]T]
}

// id returns the number of a value, identified by a unique key. An empty key stands for
// the zero value.
func (l *lexicon[T]) id(key []byte, value func() T) uint32 {
	if len(key) == 0 {
		return 0
	}
	l.mu.RLock()
	id, ok := l.ids[string(key)]
	l.mu.RUnlock()
	if ok {
		return id
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok = l.ids[string(key)]; ok {
		return id
	}
	if l.ids == nil {
		l.ids = map[string]uint32{}
	}
	all := append(l.values(), value())
	l.all.Store(&all)
	l.ids[string(key)] = uint32(len(all))
	return uint32(len(all))
}

// at returns the value of a number.
func (l *lexicon[T]) at(id uint32) (v T) {
	if id == 0 {
		return v
	}
	return l.values()[id-1]
}

// values returns the values in the order of their numbers, from 1 on.
func (l *lexicon[T]) values() []T {
	if p := l.all.Load(); p != nil {
		return *p
	}
	return nil
}

// moveID numbers a move. Its key is unambiguous, as in sleepID.
func (t *states) moveID(m move) uint32 {
	var buf [64]byte
	key := binary.AppendUvarint(buf[:0], uint64(m.Actor))
	for _, v := range m.Inner {
		key = binary.AppendUvarint(key, uint64(v))
	}
	return t.moves.id(key, func() move { return move{m.Actor, slices.Clone(m.Inner)} })
}

// orderID numbers an order of the interchangeable hosts; 0 is that of the scenario.
func (t *states) orderID(order []uint8) uint32 {
	for i, h := range order {
		if int(h) != i {
			return t.orders.id(order, func() []uint8 { return slices.Clone(order) })
		}
	}
	return 0
}

// sleepID numbers a set of actors, which it sorts.
func (t *states) sleepID(set []sim.Actor) uint32 {
	slices.Sort(set)
	var buf [128]byte
	key := buf[:0]
	for _, a := range set {
		key = binary.AppendUvarint(key, uint64(a))
	}
	return t.sleeps.id(key, func() []sim.Actor { return slices.Clone(set) })
}
