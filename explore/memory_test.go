package explore_test

import (
	"errors"
	"math"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A search that reaches its memory limit stops and names the reason, and it can be resumed with a higher limit. The
// process has its old limit afterwards.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	file := filepath.Join(t.TempDir(), "s")
	r, err := explore.Check(flagBeforeData(), explore.Options{Workers: 1, MaxMemory: 1 << 10, Save: file})
	if err != nil || r.Verdict != explore.RanOut || !errors.Is(r.Reason, explore.ErrMemory) || r.Exhausted {
		t.Fatalf("%+v, %v", r, err)
	}
	wants(t, testWith(t, flagBeforeData(), explore.Options{MaxMemory: 1 << 10}), true, "the memory limit is reached", "nothing is verified")
	if now := debug.SetMemoryLimit(-1); now != math.MaxInt64 {
		t.Errorf("the process keeps a limit of %d", now)
	}
	r, err = explore.Check(flagBeforeData(), explore.Options{Workers: 1, MaxMemory: 1 << 40, Resume: file})
	if err != nil || r.Verdict != explore.Verified || r.Reason != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
