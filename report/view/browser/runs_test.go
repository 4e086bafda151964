package browser_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pair"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// runs are counterexamples of several kinds: a history, a recovery under a weak card,
// and a litmus test with persistent memory. They are found once, and nobody changes them.
func runs(t *testing.T) map[string]*found {
	t.Helper()
	if kept != nil {
		return kept
	}
	kept = map[string]*found{
		"mirror": find(t, mirror.Scenario("one", (*mirror.Register).WriteOne), explore.Options{}),
		"ncl":    find(t, explore.Named(nclcheck.Scenarios(), "ncl/three-writes"), explore.Options{Profile: "relaxed"}),
		"litmus": findLitmus(t, persists),
	}
	return kept
}

var kept map[string]*found

// persists is a litmus test whose outcome is reached: what was not flushed is lost in
// part.
const persists = "pmem-torn-lines"

func findLitmus(t *testing.T, name string) *found {
	t.Helper()
	test, err := litmus.ParseFile("../../../testdata/litmus/" + name + lang.Ext)
	if err != nil {
		t.Fatal(err)
	}
	s, err := litmus.Compile(test, test.OutcomeName(0))
	if err != nil {
		t.Fatal(err)
	}
	return find(t, s, explore.Options{Profile: litmus.Profiles(test)[0]})
}

// stampsCross returns the recorded run of the README, which needs several unusual choices.
func stampsCross(t *testing.T) *found {
	t.Helper()
	ce, err := explore.Load("../../../testdata/counterexamples/ncl-stamps-cross.json")
	if err != nil {
		t.Fatal(err)
	}
	return replayed(t, explore.Named(nclcheck.Scenarios(), ce.Scenario), ce)
}

// long is a run of many events that fails at its end.
func long(t *testing.T, writes int) *found {
	t.Helper()
	s := &explore.Scenario{Name: "long", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{
			{Name: "writer", Main: func(h host.Host, _ int) {
				if err := manyWrites(h, writes); err != nil {
					c.Fail(err)
				}
			}},
			{Name: "server", Main: func(h host.Host, _ int) { lend(h) }, Daemon: true},
			{Name: "bystander", Main: func(host.Host, int) {}},
		}}, nil
	}}
	r, err := explore.Check(s, explore.Options{Workers: 1, NoShrink: true, Strategy: explore.Random, MaxRuns: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	return replayed(t, s, r.Counterexample)
}

// manyWrites writes and reads a word again and again.
func manyWrites(h host.Host, n int) error {
	e, err := pair.Dial(h, "server", 64)
	if err != nil {
		return err
	}
	for i := range n {
		e.Mem.Store64(0, uint64(i+1))
		for _, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead} {
			if err := e.Do(op, 8*(i%8), 8); err != nil {
				return err
			}
		}
		if e.Mem.Load64(0) != uint64(i+1) {
			return fmt.Errorf("read %d", i)
		}
	}
	return errors.New("enough")
}

func lend(h host.Host) {
	if e, err := pair.Lend(h, 64, verbs.RemoteWrite|verbs.RemoteRead); err == nil {
		e.Stay()
	}
}
