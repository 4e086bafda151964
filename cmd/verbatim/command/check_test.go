package command

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
)

// What an interruption leaves unchecked is named, and does not count as verified.
func TestInterruptedChecksAreUndecided(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr strings.Builder
	todo := []*explore.Scenario{restartFails("demo/one"), restartFails("demo/two")}
	if got := (&checkFlags{}).checkAll(ctx, todo, io.Discard, &stderr); got != cli.RanOut || !strings.Contains(stderr.String(), "not checked: demo/one, demo/two") {
		t.Errorf("status %d: %s", got, &stderr)
	}
}

// A long search is measured in minutes, a short one in tenths of a second.
func TestDurationsForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{1540 * time.Millisecond: "1.5 s", 90*time.Second + 400*time.Millisecond: "1m30s"} {
		if got := short(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
