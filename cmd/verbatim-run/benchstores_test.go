package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/stores"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

func TestBenchStoresStatus(t *testing.T) {
	for _, x := range []usage{
		{"bench stores --rounds 0", 2, "", "--rounds 0: it must be at least 1"},
		{"bench stores --clients -1", 2, "", "-1 clients: want 1 to 256"},
		{"bench stores --workloads E", 2, "", "no store can scan"},
		{"bench stores --workloads A,x", 2, "", "workload \"x\""},
		{"bench stores --systems sift,epaxos", 2, "", "system \"epaxos\": want some of [sift sift-ec raftr]"},
		{"bench stores --device none", 2, "", "start sift: open a device for mem1"},
		{"bench stores extra", 2, "", "extra"},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

// It measures what it is asked to, in a table and as JSON.
func TestBenchStores(t *testing.T) {
	const small = "bench stores --device soft --systems raftr,sift --workloads F --rounds 1 --operations 8 --records 4 --clients 2"
	code, out, stderr := command.Call(strings.Fields(small)...)
	if code != cli.OK || stderr != "" || !strings.Contains(out, " F        │ sift   │ ") || !strings.Contains(out, "ratio: to raftr in the same round\nby: verbatim-run bench stores --device soft --systems raftr,sift") {
		t.Errorf("status %d: %s%s", code, out, stderr)
	}
	code, out, stderr = command.Call(strings.Fields(small + " --json")...)
	lines := json.NewDecoder(strings.NewReader(out))
	for _, system := range []string{"raftr", "sift"} {
		var r stores.Row
		if err := lines.Decode(&r); err != nil || code != cli.OK || r.Workload != "F" || r.System != system || r.Rate <= 0 {
			t.Errorf("status %d: %+v, %v: %s", code, r, err, stderr)
		}
	}
}
