package main

import (
	"os"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/logsoak"
)

// Killing primaries and backups loses no forced record. `verbatim-run arcadia soak` runs more rounds.
func TestArcadiaSoak(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, frequency := range []int{1, 64} {
		r, err := logsoak.Run(t.Context(), logsoak.Config{Program: self, Env: []string{asProgram + "=1"}, Dir: t.TempDir(), Rounds: 5, Frequency: frequency,
			Seed: 9, Patience: time.Minute, Progress: func(line string) { t.Log(line) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", *r)
		if r.Err != nil || r.Rounds != 5 || r.Acked < 50 || r.Backups == 0 || r.Lost == 0 {
			t.Errorf("frequency %d: %+v; again: verbatim-run arcadia soak --frequency %d --seed 9", frequency, *r, frequency)
		}
	}
}

// Bad flags are reported before anything is opened.
func TestArcadiaRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"append"}, "--pmem is required"},
		{[]string{"dump", "--pmem", dir + "/none"}, "no such file"},
		{[]string{"append", "--pmem", dir, "--size", "9"}, "multiple of 8"},
		{[]string{"append", "--pmem", dir, "--frequency", "0"}, "--frequency 0"},
		{[]string{"append", "--pmem", dir, "--quorum", "2"}, "pass --backup"},
		{[]string{"append", "--pmem", dir, "--backup", "b"}, "want NAME=ADDRESS"},
		{[]string{"append", "--pmem", dir, "--backup", "primary=x"}, "a unique name"},
		{[]string{"append", "--pmem", dir, "--backup", "b=127.0.0.1:1", "--order", "never"}, "--order"},
		{[]string{"append", "--pmem", dir, "--backup", "b=127.0.0.1:1", "--quorum", "3", "--device", "soft"}, "Quorum is 3"},
		{[]string{"backup", "--pmem", dir}, "--name is required"},
		{[]string{"backup", "--name", "b"}, "--pmem is required"},
		{[]string{"soak", "--rounds", "0"}, "rounds"},
	} {
		says(t, program(t, append([]string{"arcadia"}, tt.args...)...), 2, tt.want)
	}
}
