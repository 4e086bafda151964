package main

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// line is this program, with what init functions add to it.
var line = clitest.Program(func(args []string, stdout, stderr io.Writer) int { return program.Run(args, stdout, stderr) })

// call runs the program.
func call(args ...string) (code int, stdout, stderr string) { return line.Call(args...) }

// protocolNamed returns a protocol of the program.
func protocolNamed(t *testing.T, name string) *command.Protocol {
	t.Helper()
	i := slices.IndexFunc(program.Protocols, func(p command.Protocol) bool { return p.Name == name })
	if i < 0 {
		t.Fatal(name)
	}
	return &program.Protocols[i]
}

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
	if p := protocolNamed(t, "ncl"); !slices.Equal(p.Kit, want) {
		t.Errorf("%v; want %v", p.Kit, want)
	}
}

// Without its tag the command says how Raft-R is checked; with it, the protocol is there.
func TestRaftRNeedsItsTag(t *testing.T) {
	tagged := slices.ContainsFunc(program.Protocols, func(p command.Protocol) bool { return p.Name == "raftr" })
	code, out, stderr := call("check", "raftr/log", "--max-runs", "1")
	if tagged != (code == 3) || !tagged && !strings.Contains(stderr, "go run -tags raftr ./cmd/verbatim") {
		t.Errorf("status %d: %s%s", code, out, stderr)
	}
}

// What runs on machines is refused with the name of the other program, and the help text names it too.
func TestElsewhere(t *testing.T) {
	const said = " is a command of verbatim-run, which runs protocols on machines and measures them: go run ./cmd/verbatim-run "
	for _, x := range []clitest.Usage{
		{Args: "", Stdout: "verbatim-run, runs protocols on machines and measures them"},
		{Args: "--help", Stdout: "verbatim check ncl\n"},
		{Args: "ncl coord --listen x", Code: 2, Stderr: "ncl" + said + "ncl ...\n"},
		{Args: "sift put a b", Code: 2, Stderr: "sift" + said + "sift ...\n"},
		{Args: "bench --help", Code: 2, Stderr: "go run ./cmd/verbatim-run bench ..."},
		{Args: "crash sqlite", Code: 2, Stderr: "go run ./cmd/verbatim-run crash ..."},
	} {
		line.Try(t, x)
	}
}
