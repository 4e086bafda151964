package main

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// An instance asks for its session often enough for the sessions of its coordinator,
// however short they are.
func TestHeartbeats(t *testing.T) {
	for ttl, want := range map[string]time.Duration{"400ms": 100 * time.Millisecond, "2s": heartbeat, "10s": heartbeat} {
		_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", ttl)
		i, err := start(ncl.Config{App: "app", Coord: clientOf(t, "app", addr)}, time.Minute, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		if i.every != want {
			t.Errorf("sessions of %s: a heartbeat every %v, want %v", ttl, i.every, want)
		}
		i.close()
	}
}
