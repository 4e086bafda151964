package ncl

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// `ncl/limits` checks the other limits of a configuration. A file of the largest size
// needs too much memory for a test.
func TestSizes(t *testing.T) {
	for size, ok := range map[int]bool{-1: false, 0: false, 1: true, MaxSize: true, MaxSize + 1: false} {
		if validSize(size) != ok {
			t.Errorf("a file of %d bytes is valid: %v", size, !ok)
		}
	}
}

// Unset fields get their defaults, and set ones stay.
func TestDefaults(t *testing.T) {
	least := Config{App: "db", Coord: newKeys()}
	got, err := least.complete("wal")
	if err != nil || got.CallTimeout != DefaultCallTimeout || got.CompletionTimeout != verbs.Forever || got.QueueDepth != DefaultQueueDepth {
		t.Errorf("%+v, %v", got, err)
	}
	least.CallTimeout, least.CompletionTimeout, least.QueueDepth = time.Second, time.Minute, 2
	got, err = least.complete("wal")
	if err != nil || got.CallTimeout != time.Second || got.CompletionTimeout != time.Minute || got.QueueDepth != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
