package command

import (
	"context"
	"errors"
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

// A run that violates another promise than the recorded one still fails: the status shows that.
func TestAnotherViolationIsAViolation(t *testing.T) {
	ce := &explore.Counterexample{Class: "lost"}
	for want, r := range map[int]*explore.Replay{cli.OK: {}, cli.Violated: {Err: errors.New("something else")}} {
		if text, got := outcome(ce, r); got != want || !strings.HasPrefix(text, "no longer fails") {
			t.Errorf("status %d, want %d: %s", got, want, text)
		}
	}
}

// A replay whose decisions no longer apply reports that: a run that no longer fails then proves nothing.
func TestReplayCountsWhatNoLongerApplies(t *testing.T) {
	text, _ := outcome(&explore.Counterexample{Class: "lost", Decisions: make([]explore.Decision, 3)}, &explore.Replay{Unmade: 2})
	if !strings.Contains(text, "2 of its 3 decisions no longer apply") {
		t.Error(text)
	}
}

// A replay that hangs is undecided.
func TestHangIsUndecided(t *testing.T) {
	var out strings.Builder
	if err := hangs(&out, "run.json", explore.ErrHang); !errors.Is(err, cli.Status(cli.RanOut)) || !strings.HasPrefix(out.String(), "run.json: ") {
		t.Errorf("%v: %s", err, &out)
	}
}
