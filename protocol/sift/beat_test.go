package sift

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

// A heartbeat that waits for another task's sends nothing if the coordinator stops meanwhile: the
// connections belong to the node then, which follows.
func TestAHeartbeatThatWaitedAsksAgainWhetherItLeads(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		var err error
		c.beatMu.Lock()
		h.Go("beat", func() { err = c.Beat() })
		h.Sleep(1) // it waits
		c.mu.Lock()
		_ = c.stop(ErrReplaced)
		c.mu.Unlock()
		beats := c.beats
		c.beatMu.Unlock()
		h.Sleep(1)
		if !errors.Is(err, ErrReplaced) || c.beats != beats {
			t.Errorf("%v, after %d heartbeats, and then %d", err, beats, c.beats)
		}
	}, nil)
}

// The term of a word never goes back: the next candidate might win the node for the term of the candidate
// that has won it already, and two nodes could win one term.
func TestAHeartbeatLeavesTheWordOfALaterTermAlone(t *testing.T) {
	run(t, func(h host.Host) {
		later := follower(t, h, 2, 1)
		c := lead(t, h, config())
		if _, err := later.Watch(); err != nil {
			t.Fatal(err)
		}
		takes(t, later, 0)
		for range 3 {
			if err := c.Beat(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := later.Watch(); err != nil || !later.nodes[0].seen.by(2, later.Term()) {
			t.Errorf("%v: the word is %v", err, later.nodes[0].seen)
		}
	}, nil)
}

// Fewer answers than a majority say nothing of another coordinator.
func TestAHeartbeatWithoutAnswersIsUnavailable(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		crash("mem1")
		crash("mem3")
		if err := c.Beat(); !errors.Is(err, ErrUnavailable) {
			t.Error(err)
		}
	})
}

// The loop that sends heartbeats ends when another node has been elected, so that this one follows.
func TestKeepEndsWhenTheCoordinatorIsReplaced(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		other := config()
		other.Node = 2
		n, err := Start(h, other)
		if err != nil {
			t.Fatal(err)
		}
		_, err = n.Watch()
		if o, err2 := n.Campaign(); o != Won || errors.Join(err, err2) != nil {
			t.Fatalf("%v, %v, %v", o, err, err2)
		}
		if err := c.Keep(); !errors.Is(err, ErrReplaced) {
			t.Errorf("got %v, want ErrReplaced", err)
		}
	}, nil)
}
