package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/logsoak"
	"github.com/verbatim-rdma/verbatim/host/oshost"
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
		{[]string{"verify"}, "--pmem is required"},
		{[]string{"verify", "--pmem", dir}, "has no log"},
	} {
		says(t, program(t, append([]string{"arcadia"}, tt.args...)...), 2, tt.want)
	}
}

// Verify finds a damaged copy, and accepts a whole one.
func TestArcadiaVerify(t *testing.T) {
	dir := t.TempDir()
	run := func(stdin string, args ...string) *exec.Cmd {
		cmd := program(t, append([]string{"arcadia"}, append(args, "--pmem", dir)...)...)
		cmd.Stdin = strings.NewReader(stdin)
		return cmd
	}
	for range 2 { // the second recovery knows the records of the first
		says(t, run("first record\n", "append", "--size", "4096"), 0, "ack")
	}
	says(t, run("", "verify"), 0, "epoch 2 from record 2; records 1 to 2, 0 of them cleaned up")
	file := oshost.PMEMFile(dir, "log")
	image, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(at int) {
		t.Helper()
		b := bytes.Clone(image)
		b[at] ^= 1
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(bytes.Index(image, []byte("first")))
	says(t, run("", "verify"), 1, "DAMAGED: record 1")
	damage(bytes.LastIndex(image, []byte("first")))
	says(t, run("", "verify"), 0, "remains: record 2 was cut off, or is damaged")
	damage(0)
	says(t, run("", "verify"), 1, "DAMAGED: one of the two superlines")
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, run("", "verify"), 2, "no superline is whole")
}
