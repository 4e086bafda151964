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
