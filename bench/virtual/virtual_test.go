package virtual

import (
	"errors"
	"testing"
	"time"
)

// A Read of the measured size takes the measured time.
func TestProbe(t *testing.T) {
	m := ConnectX4()
	a, b := &Host{c: &Cluster{model: m}}, &Host{c: &Cluster{model: m}}
	sent := a.sends(m.Post, 0, &m)
	took := b.sends(sent+m.oneWay()+m.PCIeRead, probeSize, &m) + m.oneWay() + m.Poll
	if d := took - m.ReadTime; d < -time.Nanosecond || d > time.Nanosecond {
		t.Errorf("a Read of %d bytes takes %v, and %v was measured", probeSize, took, m.ReadTime)
	}
}

func TestLinksAreShared(t *testing.T) {
	m := Model{LinkRate: 8e9, MTU: 1000, CopyRate: 1} // a byte a nanosecond
	h := &Host{c: &Cluster{model: m}}
	for _, x := range []struct {
		ready time.Duration
		n     int
		want  time.Duration
	}{{0, 1000, 1000}, {500, 1000, 2000}, {5000, 10, 5010}} {
		if got := h.sends(x.ready, x.n, &m); got != x.want {
			t.Errorf("%d bytes from %v on are sent at %v, want %v", x.n, x.ready, got, x.want)
		}
	}
	for _, x := range []struct {
		last time.Duration
		n    int
		want time.Duration
	}{{1000, 1000, 1000}, {1000, 1000, 2000}, {9000, 1000, 9000}} {
		if got := h.receives(x.last, x.n, &m); got != x.want {
			t.Errorf("%d bytes whose last comes at %v are there at %v, want %v", x.n, x.last, got, x.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	m := Model{LinkRate: 8e9, MTU: 1000, Header: 10}
	for n, want := range map[int]time.Duration{0: 10, 1: 11, 1000: 1010, 1001: 1021} {
		if got := m.wire(n); got != want {
			t.Errorf("%d bytes take %v, want %v", n, got, want)
		}
	}
}

func TestModel(t *testing.T) {
	for name, change := range map[string]func(*Model){
		"no rate":   func(m *Model) { m.LinkRate = 0 },
		"no MTU":    func(m *Model) { m.MTU = 0 },
		"inline":    func(m *Model) { m.MaxInline = -1 },
		"a way < 0": func(m *Model) { m.ReadTime = m.PCIeRead },
	} {
		m := ConnectX4()
		change(&m)
		if _, err := New(m); !errors.Is(err, ErrModel) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
