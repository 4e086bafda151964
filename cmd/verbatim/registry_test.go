package main

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

// The mutants of NCL are made of all packages of kit that it imports.
func TestKitOfNCL(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", source.Module+"/protocol/ncl").Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for path := range strings.Lines(string(out)) {
		if folder := strings.TrimPrefix(strings.TrimSpace(path), source.Module+"/"); strings.HasPrefix(folder, "kit/") {
			want = append(want, folder)
		}
	}
	p, err := protocolOf("ncl")
	if err != nil || !slices.Equal(p.Kit, want) {
		t.Errorf("%v, %v; want %v", p.Kit, err, want)
	}
}

// Without its tag the command says how Raft-R is checked; with it, the protocol is there.
func TestRaftRNeedsItsTag(t *testing.T) {
	p, err := protocolOf("raftr/log")
	if tagged := len(protocols) > 0 && protocols[len(protocols)-1].Name == "raftr"; tagged {
		if err != nil || p.Name != "raftr" {
			t.Error(p, err)
		}
	} else if !errors.Is(err, errTagged) || !strings.Contains(err.Error(), "-tags raftr") {
		t.Errorf("%v", err)
	}
}
