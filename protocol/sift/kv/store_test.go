package kv

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// onHost runs a host that has tasks.
func onHost(t *testing.T, main func(h host.Host)) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(sim.Config{Profile: profile, Nodes: []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) { main(h) }}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(inOrder{}); err != nil {
		t.Fatal(end, err)
	}
}

// openOn opens an empty store on a host.
func openOn(t *testing.T, h host.Host) *Store {
	t.Helper()
	s, err := Open(h, newCluster(small()).lead(nil, []int{0, 1, 2}, 0), small())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The task that applies waits until there is something to apply, and ends with the store.
func TestTheTaskThatAppliesIsWoken(t *testing.T) {
	onHost(t, func(h host.Host) {
		s := openOn(t, h)
		var ended error
		h.Go("apply", func() { ended = s.Apply() })
		for i := range 3 {
			h.Sleep(time.Second) // it waits
			if err := s.Put([]byte("a"), []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			if h.Sleep(time.Second); s.Stats().Pending != 0 {
				t.Errorf("put %d is not applied", i)
			}
		}
		s.Stop()
		if h.Sleep(time.Second); !errors.Is(ended, ErrNotLeading) {
			t.Errorf("it ended with %v", ended)
		}
	})
}
