package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

func TestBenchPoolStatus(t *testing.T) {
	small := "bench pool --machines 200 --days 5 --repeats 2 --groups 20 "
	for _, x := range []usage{
		{small + "--backups 0", 0, "     20 │ ", ""},
		{small + "--backups 0", 0, "none of these was enough", ""},
		{small + "--rate 0 --backups 1", 0, "20 groups: 1 backup was enough in all simulations\n", ""},
		{small + "--backups 1 --seed 7", 0, "trace: synthetic, seed 7: 200 machines", ""},
		{small + "--backups 1 --json", 0, `{"groups":20,"backups":1,"repeats":2,`, ""},
		{"bench pool --groups 4000", 2, "", "16000 machines, but 12500 are up"},
		{"bench pool --groups 0", 2, "", "0 groups"},
		{"bench pool --groups x", 2, "", "--groups"},
		{"bench pool --backups -1", 2, "", "-1 backups"},
		{"bench pool --repeats 0", 2, "", "0 repeats"},
		{"bench pool --provision 0s", 2, "", "to provision a node"},
		{"bench pool --f 0", 2, "", "F is 0"},
		{"bench pool --burst 0", 2, "", "at least 1 machine"},
		{"bench pool --days NaN", 2, "", "NaN days"},
		{"bench pool --trace no-such-file", 2, "", "no-such-file"},
		{"bench pool --trace x --rate 1", 2, "", "--rate applies to the synthetic trace only"},
		{"bench pool --plot x.png", 2, "", "only SVG is supported"},
		{"bench pool extra", 2, "", "extra"},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

// The same flags give the same bytes.
func TestBenchPoolTwice(t *testing.T) {
	args := strings.Fields("bench pool --machines 200 --days 5 --repeats 3 --groups 20,40 --backups 0,1,2")
	_, first, _ := command.Call(args...)
	_, second, _ := command.Call(args...)
	if first != second || !strings.Contains(first, "by verbatim-run bench pool --backups 0,1,2 --days 5 --groups 20,40 --machines 200 --repeats 3\n") {
		t.Errorf("first\n%s\nthen\n%s", first, second)
	}
}

// Both commands draw, to a file or into a folder.
func TestBenchPlots(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []string{"bench pool --machines 200 --days 5 --repeats 2 --groups 20 --backups 0,1", "bench cost"} {
		if code, _, stderr := command.Call(append(strings.Fields(args), "--plot", dir)...); code != 0 {
			t.Errorf("%s: status %d: %s", args, code, stderr)
		}
	}
	for name, want := range map[string]string{"pool.svg": ">20 groups<", "cost.svg": ">Sift EC + shared<"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, and %q must be in it", name, err, want)
		}
	}
}

// A trace is read from a file, packed or not.
func TestBenchPoolTrace(t *testing.T) {
	text := []byte("0,1,0\n0,2,0\n0,3,0\n0,4,0\n0,5,0\n1000000,1,1\n2000000,2,1\n2000000,2,1\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"events.csv": text, "events.csv.gz": packed.Bytes()} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := command.Call("bench", "pool", "--groups", "1", "--backups", "0,1", "--trace", file)
		if code != 0 || !strings.Contains(stdout, "5 machines, 2 changes, 1 rows that change nothing") {
			t.Errorf("%s: status %d\n%s%s", name, code, stdout, stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "plain.gz")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command.Call("bench", "pool", "--groups", "1", "--trace", file); code != 2 || !strings.Contains(stderr, "plain.gz") {
		t.Errorf("a file that is not packed: status %d: %s", code, stderr)
	}
}
