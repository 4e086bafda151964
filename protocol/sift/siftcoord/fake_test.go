package siftcoord

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// shape has values so short that most records and all snapshots have several pieces.
var shape = kv.Config{Key: MinKey, Value: MinValue, Index: 64, Blocks: 256, Log: 4, Cache: 4}

// stub is a host with one task, which calls the services of others in the same process.
type stub struct {
	host.Host
	name  string
	nodes map[string]*Service
	fails map[string]error // nodes that cannot be called
	lost  bool             // the answer of the next call, which is carried out
	calls []string
}

type nothing struct{}

func (nothing) Lock()   {}
func (nothing) Unlock() {}

func (*stub) NewMutex() host.Mutex            { return nothing{} }
func (*stub) Logf(format string, args ...any) {}
func (s *stub) Name() string                  { return s.name }

func (s *stub) Call(to, service string, req []byte, _ time.Duration) ([]byte, error) {
	s.calls = append(s.calls, to)
	if err := s.fails[to]; err != nil {
		return nil, err
	}
	resp := s.nodes[to].answer(s.name, req)
	if s.lost {
		s.lost = false
		return nil, host.ErrTimeout
	}
	return resp, nil
}

// memory is what the memory nodes of a group hold.
type memory struct {
	pairs map[string]string
	room  int // pairs that there is room for
}

func newMemory() *memory { return &memory{pairs: map[string]string{}, room: 256} }

// fake is the store of one coordinator. It dies at a put or delete, which may be the last one that is carried out.
type fake struct {
	*memory
	left     int // puts and deletes until then; negative: it lives
	lasts    bool
	survives bool // it fails once
	dead     bool
	writes   int
}

func (m *memory) open() *fake { return &fake{memory: m, left: -1} }

var errDead = errors.New("replaced")

// write counts a put or delete, and reports whether it is carried out.
func (f *fake) write() (bool, error) {
	if f.dead {
		return false, kv.ErrNotLeading
	}
	if f.writes++; f.left == 0 {
		f.dead, f.left = !f.survives, -1
		return f.lasts, errors.Join(kv.ErrUnknown, errDead)
	}
	f.left--
	return true, nil
}

func (f *fake) Put(key, value []byte) error {
	if _, there := f.pairs[string(key)]; !f.dead && !there && len(f.pairs) >= f.room {
		return kv.ErrFull
	}
	done, err := f.write()
	if done {
		f.pairs[string(key)] = string(value)
	}
	return err
}

func (f *fake) Delete(key []byte) error {
	done, err := f.write()
	if done {
		delete(f.pairs, string(key))
	}
	return err
}

func (f *fake) Get(key, buf []byte) ([]byte, bool, error) {
	if f.dead {
		return buf, false, kv.ErrNotLeading
	}
	value, found := f.pairs[string(key)]
	return append(buf, value...), found, nil
}
