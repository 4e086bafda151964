package nclcheck_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
	"github.com/verbatim-rdma/verbatim/strace"
)

// The guarantee of section 4.2 holds in every run of the scenarios that take seconds;
// `verbatim check ncl` checks them all. A search that never met the hard cases would
// prove nothing, so it must reach them.
func TestScenariosAreVerified(t *testing.T) {
	for _, s := range nclcheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			quick := []string{"ncl/register", "ncl/collect", "ncl/keep", "ncl/left-behind", "ncl/strand", "ncl/rejoin", "ncl/join", "ncl/hang", "ncl/remake", "ncl/measure", "ncl/session", "ncl/starve", "ncl/tended",
				"ncl/scarce", "ncl/limits", "ncl/nonsense", "ncl/garbled", "ncl/misread",
				"ncl/tight", "ncl/handle", "ncl/worn", "ncl/echo", "ncl/leftovers", "ncl/serve", "ncl/pace", "ncl/resume", "ncl/halfway", "ncl/unfinished", "ncl/late-rival", "ncl/doubt", "ncl/waits"}
			if !slices.Contains(quick, s.Name) {
				t.Skip("takes longer; part of `verbatim check ncl`")
			}
			scenario.Verify(t, s)
		})
	}
}

// The deep scenarios take too long for a test; their first runs must be right.
func TestDeepScenariosBegin(t *testing.T) {
	for _, s := range nclcheck.DeepScenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if explore.Named(nclcheck.Scenarios(), strings.TrimSuffix(s.Name, "-deep")) == nil || !strings.HasSuffix(s.Name, "-deep") {
				t.Error("it is no deeper version of another scenario")
			}
			r, err := explore.Check(s, explore.Options{MaxRuns: 500})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.RanOut {
				t.Errorf("%v: %v %+v", r.Verdict, r.Reason, r.Counterexample)
			}
		})
	}
}

// Real programs' logs survive a crash during any write.
func TestTraces(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/traces/*.strace")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d traces: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			tr, err := strace.Parse(f, strace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := nclcheck.FromTrace(tr)
			if err != nil {
				t.Fatal(err)
			}
			explore.Test(t, s, explore.Options{MaxRuns: 15})
		})
	}
}

func TestTraceWithoutWritesIsNoWorkload(t *testing.T) {
	for reason, tr := range map[string]*strace.Trace{
		"nothing at all":        {},
		"only synced":           {Ops: []strace.Op{{Kind: strace.Sync}}},
		"larger than it may be": {Ops: []strace.Op{{Kind: strace.Write, Offset: 1 << 30, Data: []byte("x")}}},
	} {
		if _, err := nclcheck.FromTrace(tr); !errors.Is(err, nclcheck.ErrTrace) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
