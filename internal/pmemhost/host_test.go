package pmemhost_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
)

func open(t *testing.T, h *pmemhost.Host) *pmemhost.Memory {
	t.Helper()
	if _, err := h.OpenPMEM("m", 256); err != nil {
		t.Fatal(err)
	}
	return h.Memory("m")
}

func none(int) bool { return false }

// Power takes every word that was not flushed and fenced, or that was stored after the flush, unless it was evicted.
func TestWhatPowerTakes(t *testing.T) {
	h := pmemhost.New()
	m := open(t, h)
	for at := range 4 { // in lines of their own
		m.Store64(64*at, 1)
	}
	m.Flush(0, 1)
	m.Flush(64, 8)
	m.Store64(64, 2)
	m.Fence()
	m.Flush(128, 8)
	want := func(name string, h *pmemhost.Host, want ...uint64) {
		t.Helper()
		m := open(t, h)
		for at, v := range want {
			if got := m.Load64(64 * at); got != v {
				t.Errorf("%s: word %d is %d, want %d", name, at, got, v)
			}
		}
	}
	want("the process ends", h.Crash(nil), 1, 2, 1, 1)
	want("power fails", h.Crash(none), 1, 1, 0, 0)
	want("power fails, and one word was evicted", h.Crash(func(off int) bool { return off == 192 }), 1, 1, 0, 1)
	want("twice", h.Crash(none).Crash(none), 1, 1, 0, 0)
	if again := h.Crash(none); open(t, again).Load64(64) != 1 || m.Load64(64) != 2 {
		t.Error("a crash changes the host that it copies")
	}
}

// Each word of a store, each flush and each fence is a step, before which a process can end.
func TestSteps(t *testing.T) {
	for n := 1; n <= 5; n++ {
		h := pmemhost.New()
		m := open(t, h)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no crash at step %d", n)
				}
			}()
			h.After(n, func() { panic("crash") })
			m.Store(4, make([]byte, 16)) // in three words
			m.Flush(0, 64)
			m.Fence()
		}()
		if h.Steps() != n {
			t.Errorf("%d steps, want %d", h.Steps(), n)
		}
	}
}

// Damage lasts until it is overwritten, also over a crash.
func TestDamage(t *testing.T) {
	h := pmemhost.New()
	m := open(t, h)
	m.Flip(8*16 + 3)
	if m.Load64(16) != 8 {
		t.Errorf("%d", m.Load64(16))
	}
	m.Poison(12)
	for _, h := range []*pmemhost.Host{h, h.Crash(nil), h.Crash(none)} {
		m := open(t, h)
		if err := host.TryLoad(m, 0, make([]byte, 9)); !errors.Is(err, host.ErrMedia) {
			t.Errorf("it can be read: %v", err)
		}
		if err := host.TryLoad(m, 16, make([]byte, 8)); err != nil {
			t.Error(err)
		}
		m.Store64(8, 1)
		if err := host.TryLoad(m, 0, make([]byte, 16)); err != nil {
			t.Errorf("after a store: %v", err)
		}
	}
}
