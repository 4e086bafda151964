package recordstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
	"github.com/verbatim-rdma/verbatim/splitfs/recordstore"
)

// script writes to random places of a few objects and deletes some. The log has little spare room.
type script struct {
	r    *rand.Rand
	s    *recordstore.Store
	want map[string][]byte
	// The operation in progress: a write, or a create or release (data is nil).
	name string
	off  int
	data []byte
}

func newScript(t *testing.T, h *pmemhost.Host, seed uint64) *script {
	return &script{r: rand.New(rand.NewPCG(seed, 0)), s: open(t, h, logSize), want: map[string][]byte{}}
}

func (x *script) run() error {
	for i := range 400 {
		names := slices.Sorted(maps.Keys(x.want))
		if i%40 < 2 && len(names) < 4 {
			x.name, x.off, x.data = fmt.Sprint("o", i), 0, nil
			x.want[x.name] = make([]byte, 1500)
			if _, err := x.s.Create(x.name, 1500); err != nil {
				return err
			}
			continue
		}
		x.name, x.data = names[x.r.IntN(len(names))], nil
		o, err := x.s.Recover(x.name)
		if err != nil {
			return err
		}
		if i%40 == 39 {
			if err := o.Release(); err != nil {
				return err
			}
			delete(x.want, x.name)
			continue
		}
		x.data = make([]byte, 1+x.r.IntN(150))
		x.off = x.r.IntN(1500 - len(x.data))
		for j := range x.data {
			x.data[j] = byte(i + j)
		}
		if err := o.Record(x.off, x.data); err != nil {
			return err
		}
		copy(x.want[x.name][x.off:], x.data)
	}
	x.name = ""
	return nil
}

// compare checks the objects that another process finds. It then deletes them all, and checks that they stay deleted.
func (x *script) compare(t *testing.T, h *pmemhost.Host) error {
	s := open(t, h, logSize)
	for name, want := range x.want { //lint:ordered each is compared
		o, err := s.Recover(name)
		if errors.Is(err, fs.ErrNotExist) && name == x.name && x.data == nil {
			continue
		}
		if err != nil {
			return err
		}
		got, also := make([]byte, len(want)), bytes.Clone(want)
		if name == x.name {
			copy(also[x.off:], x.data)
		}
		if _, err := o.ReadAt(got, 0); err != nil {
			return err
		}
		for i := range got {
			if got[i] != want[i] && got[i] != also[i] {
				return fmt.Errorf("%s: byte %d is %d, want %d", name, i, got[i], want[i])
			}
		}
		if err := o.Release(); err != nil {
			return err
		}
	}
	h = h.Crash(nil)
	s = open(t, h, logSize)
	for name := range x.want { //lint:ordered each is looked for
		if _, err := s.Recover(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s was deleted, but Recover returns %v", name, err)
		}
	}
	if _, err := s.Create("new", 1500); err != nil {
		return err
	}
	o, err := open(t, h.Crash(nil), logSize).Recover("new")
	if err != nil {
		return err
	}
	got := make([]byte, 1500)
	if _, err := o.ReadAt(got, 0); err != nil || !bytes.Equal(got, make([]byte, 1500)) {
		return fmt.Errorf("a new object holds %v (%v)", got, err)
	}
	return nil
}

// A failure of the process or the power at any step loses no data, and restores no deleted object.
func TestEveryCrash(t *testing.T) {
	for seed := range uint64(2) {
		h := pmemhost.New()
		x := newScript(t, h, seed)
		began := h.Steps()
		if err := x.run(); err != nil {
			t.Fatal(err)
		}
		steps := h.Steps() - began
		stride := max(1, steps/600)
		if testing.Short() {
			stride *= 10
		}
		for at := 1 + int(seed); at <= steps; at += stride {
			h := pmemhost.New()
			x := newScript(t, h, seed)
			dead := func() (dead bool) {
				defer func() {
					if y := recover(); y != nil {
						if _, is := y.(crashed); !is {
							panic(y)
						}
						dead = true
					}
				}()
				h.After(at, func() { panic(crashed{}) })
				if err := x.run(); err != nil {
					t.Fatal(err)
				}
				return false
			}()
			if !dead {
				t.Fatalf("seed %d: no crash at step %d of %d", seed, at, steps)
			}
			evicted := []func(int) bool{nil, func(int) bool { return false }, func(int) bool { return x.r.IntN(2) == 0 }}[at/stride%3]
			if err := x.compare(t, h.Crash(evicted)); err != nil {
				t.Fatalf("seed %d, crash at step %d of %d: %v", seed, at, steps, err)
			}
		}
	}
}
