package main

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

// command is this program.
var command = clitest.Program(run)

// usage is a command line, and parts of what it must print.
type usage clitest.Usage

func TestExitStatus(t *testing.T) {
	for _, x := range []usage{
		{"", 0, "verbatim-run bench verbs", ""},
		{"--help", 0, "Exit status", ""},
		{"bensh", 2, "", "verbatim-run: unknown command \"bensh\""},
		{"check ncl", 2, "", "check is a command of verbatim, which checks protocols: go run ./cmd/verbatim check ..."},
		{"crash", 0, "sqlite", ""},
		{"crash sqlight", 2, "", "did you mean sqlite?"},
		{"crash sqlite --transactions 0", 2, "", "0 transactions"},
		{"crash sqlite --profile storng", 2, "", "did you mean strong?"},
		{"completion bash", 0, "verbatim-run", ""},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

func TestCompletion(t *testing.T) {
	for typed, want := range map[string]string{
		"b":                              "bench",
		"crash sqlite --profile r":       "relaxed",
		"bench verbs --op r":             "read",
		"bench apps --app s":             "sqlite",
		"bench verbs --backend rdma --o": "--op",
	} {
		code, stdout, _ := command.Call(append([]string{"__complete"}, strings.Fields(typed)...)...)
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%q completes to\n%s", typed, stdout)
		}
	}
}
