package bench

import (
	"errors"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/perftest"
)

func TestTools(t *testing.T) {
	if _, err := find("ib_atomic_bw"); !errors.Is(err, ErrPerftest) {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := find(readTool); !errors.Is(err, ErrPerftest) || !strings.Contains(err.Error(), "apt-get install perftest") {
		t.Error(err)
	}
}

// A report must have the size and iterations of its request.
func TestWanted(t *testing.T) {
	for tool, want := range map[string]perftest.Want{
		writeTool: {Size: 128, Iters: 10}, writeRate: {Size: 128, Iters: 10, Rate: true}, atomicTool: {Iters: 10},
	} {
		if got := wanted(&request{Tool: tool, Size: 128, Iters: 10}); got != want {
			t.Errorf("%s: %+v, want %+v", tool, got, want)
		}
	}
}
