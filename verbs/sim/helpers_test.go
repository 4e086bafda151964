package sim_test

import (
	"maps"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// pause and rest are helpers of a protocol.
func pause(h host.Host) { h.Logf("paused") }
func rest(h host.Host)  { pause(h) }

// A trace shows the line that called a helper if Config.Helpers names the helper, and otherwise the helper's own line.
func TestATracePassesOverHelpers(t *testing.T) {
	sources := map[string]bool{}
	for _, helpers := range [][]string{nil, {"sim_test.pause"}, {"sim_test.pause", "sim_test.rest"}} {
		w, err := sim.New(sim.Config{Profile: strong(t), Helpers: helpers, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) { rest(h) }}}})
		if err != nil {
			t.Fatal(err)
		}
		var trace sim.Tracer
		w.SetTracer(&trace)
		_, err = w.Run(first{})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range trace.Events {
			if e := &trace.Events[i]; e.Text == "paused" {
				sources[e.Source] = true
			}
		}
	}
	if want := map[string]bool{"sim/helpers_test.go:12": true, "sim/helpers_test.go:13": true, "sim/helpers_test.go:19": true}; !maps.Equal(sources, want) {
		t.Errorf("%v, want %v", sources, want)
	}
}
