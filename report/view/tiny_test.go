package view_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pair"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// tornError is the violation of tiny.
type tornError struct{ host string }

func (e tornError) Error() string { return e.host + " found one half of the write and not the other" }
func (tornError) Class() string   { return "torn-read" }

// tiny has a writer of 16 bytes whose server looks at the second half and then at the
// first: it is violated if it finds the one and not the other.
func tiny(writer, server string) *explore.Scenario {
	return &explore.Scenario{Name: "tiny/" + server, Doc: "A write of " + writer + " is there whole or not at all.", Bounds: "one write",
		Build: func(c *explore.Case) (sim.Config, error) {
			c.Shows(func() []explore.Operation {
				return []explore.Operation{{Client: writer, Call: "write(" + server + ")", Result: "ok", Begin: 1, End: 5}, {Client: server, Call: "read", Begin: 4, End: -1}}
			})
			once := func(int, bool) bool { return false }
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: writer, Again: once, Main: func(h host.Host, _ int) { write(h, server) }},
				{Name: server, Again: once, Main: func(h host.Host, _ int) {
					if err := serve(h); err != nil {
						c.Fail(err)
					}
				}},
			}}, nil
		}}
}

func write(h host.Host, server string) {
	e, err := pair.Dial(h, server, 64)
	if err != nil {
		return
	}
	e.Mem.Store(0, []byte("firsthalfsecond!"))
	_ = e.Do(verbs.OpWrite, 8, 16)
}

func serve(h host.Host) error {
	e, err := pair.Lend(h, 32, verbs.RemoteWrite)
	if err != nil {
		return nil
	}
	r := e.Mem
	h.Sleep(1)
	second := r.Load64(16)
	if first := r.Load64(8); first != 0 && second == 0 {
		return tornError{h.Name()}
	}
	return nil
}

// document is that of the run that violates tiny.
func document(t testing.TB, writer, server string) *view.Document {
	t.Helper()
	s := tiny(writer, server)
	r, err := explore.Check(s, explore.Options{Workers: 1, Profile: "relaxed"})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	re, err := r.Counterexample.ReplayFull(s)
	if err != nil && !errors.Is(err, explore.ErrNotReproduced) {
		t.Fatal(err)
	}
	return view.New(view.Run{Scenario: s, Counterexample: r.Counterexample, Replay: re, Outcome: "still fails", Command: "verbatim replay x"})
}
