//go:build rdma

package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// Tests under the tag need a card. VERBATIM_RDMA_DEVICE names it; otherwise it is
// the first there is. Soft-RoCE in a virtual machine will do. The peer is in this
// process here, so the numbers are worth nothing.

func onCard(t *testing.T) Config {
	t.Helper()
	device := os.Getenv("VERBATIM_RDMA_DEVICE")
	if device == "" {
		names, err := hw.Devices()
		if err != nil || len(names) == 0 {
			t.Skipf("no RDMA device on this machine (%v)", err)
		}
		device = names[0]
	}
	return Config{Backend: RDMA, Device: device, Iters: 20, Rounds: 2, StartPeer: func(ctx context.Context, name string) (string, func() error, error) {
		ctx, cancel := context.WithCancel(ctx)
		addr, done := make(chan string, 1), make(chan error, 1)
		go func() {
			done <- RunPeer(ctx, PeerConfig{Name: name, Device: device, Listen: "127.0.0.1:0", Ready: func(a string) { addr <- a }, Logf: t.Logf})
		}()
		stop := func() error { cancel(); return <-done }
		select {
		case a := <-addr:
			return a, stop, nil
		case err := <-done:
			cancel()
			return "", nil, err
		}
	}}
}

func TestVerbsOnCard(t *testing.T) {
	cfg := onCard(t)
	cfg.Depths, cfg.Sizes, cfg.Batches = []int{1, 4}, []int{100, 5000}, []int{1, 4}
	_, missing := exec.LookPath(writeTool)
	tools := 0
	for _, r := range rows(t, Verbs, cfg) {
		l := r.Latency
		if r.Measure == Rate {
			if l != nil || r.Batch < 1 {
				t.Errorf("%+v: a rate has no latency, and has a batch", r)
			}
			l = &Latency{1, 1, 1, 1, 1, 1, 1}
		}
		if l == nil || !(0 < l.Min && l.Min <= l.P50 && l.P50 <= l.P99 && l.P99 <= l.Max) || r.OpsPerSecond <= 0 || r.MTU == 0 {
			t.Errorf("%+v: latencies %+v", r, l)
		}
		if r.Inline != ((r.Op == Write || r.Op == Send) && r.Size == 100) {
			t.Errorf("%s of %d bytes inline: %v", r.Op, r.Size, r.Inline)
		}
		if p := r.Perftest; p != nil {
			tools++
			if p.Ratio <= 0 || len(p.Ours) != 2 || len(p.Theirs) != 2 || !strings.HasPrefix(p.Tool, "ib_") {
				t.Errorf("%+v", p)
			}
		}
		if missing != nil && r.Measure == HalfRoundTrip && !strings.Contains(r.Missing, "not installed") {
			t.Errorf("nothing says that perftest is missing: %+v", r)
		}
	}
	if missing == nil && tools != 5+2+12 { // two sizes of two operations, and one; sends; three rates each
		t.Errorf("%d rows are compared with perftest", tools)
	}
}

func TestWaitOnCard(t *testing.T) {
	cfg := onCard(t)
	cfg.Wait = true
	for _, r := range rows(t, Verbs, cfg) {
		if r.Measure == HalfRoundTrip && r.Op != Send || r.Reap != "wait" || r.Perftest != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestNCLOnCard(t *testing.T) {
	cfg := onCard(t)
	cfg.Sizes = []int{128, 8192}
	for _, r := range rows(t, NCL, cfg) {
		if r.Latency == nil || r.Latency.P50 <= 0 {
			t.Errorf("%+v", r)
		}
	}
}

// An unavailable peer is an error that names it, and leaves nothing behind.
func TestNoPeer(t *testing.T) {
	cfg := onCard(t)
	cfg.Peers = []string{"127.0.0.1:1"}
	if err := Verbs(t.Context(), cfg, nil); !errors.Is(err, ErrPeer) {
		t.Error(err)
	}
	if err := NCL(t.Context(), cfg, nil); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "want 3") {
		t.Error(err)
	}
}
