package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblefs"
)

// asPebble in the environment makes this test program a process that writes to a
// Pebble database.
const asPebble = "VERBATIM_TEST_AS_PEBBLE"

func init() {
	if os.Getenv(asPebble) != "" {
		if err := pebbleWriter(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "pebble:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// pebbleWriter opens a database whose log is on the peers, says how many rows it has,
// and adds rows forever, each with its acknowledgement.
func pebbleWriter(args []string) error {
	var f appFlags
	c := &cobra.Command{}
	f.define(c)
	dir := c.Flags().String("dir", "", "")
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	h, cfg, err := f.config(os.Stderr)
	if err != nil {
		return err
	}
	d, err := splitfs.OpenOSDir(*dir)
	if err != nil {
		return err
	}
	fsys, err := splitfs.New(splitfs.Config{Dir: d, Store: splitfs.NCL(h, cfg, 0), Patterns: splitfs.Presets["pebble"], Region: 256 << 10})
	if err != nil {
		return err
	}
	db, err := pebble.Open("db", &pebble.Options{FS: pebblefs.New(fsys)})
	if err != nil {
		return err
	}
	n := 0
	for ; ; n++ {
		v, closer, err := db.Get(fmt.Appendf(nil, "key%d", n))
		if errors.Is(err, pebble.ErrNotFound) {
			break
		}
		if err != nil || string(v) != fmt.Sprint("value", n) {
			return fmt.Errorf("row %d is %q: %w", n, v, err)
		}
		_ = closer.Close()
	}
	fmt.Printf("ready: it has %d rows\n", n)
	for ; ; n++ {
		if err := db.Set(fmt.Appendf(nil, "key%d", n), fmt.Append(nil, "value", n), pebble.Sync); err != nil {
			return err
		}
		fmt.Println("ack", n)
	}
}

// Pebble, its log on the peers, is killed three times in the middle of writes, the second
// time with a peer. There is another peer, so Pebble can make its next log. Every row
// that was acknowledged is there.
func TestMountlessPebble(t *testing.T) {
	r := newMountRig(t, t.TempDir())
	r.peer(t)          // a new log takes 2f+1
	var flags []string // those of the mount that are the writer's too
	for _, f := range strings.Split(strings.Join(r.flags[3:], "\x00"), "\x00--") {
		if f = "--" + strings.TrimPrefix(f, "--"); !strings.HasPrefix(f, "--region") {
			flags = append(flags, strings.Split(f, "\x00")...)
		}
	}
	t.Setenv(asPebble, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	open := func() (*exec.Cmd, func() (string, error)) {
		cmd, out := started(t, nil, append([]string{self}, flags...)...)
		line, err := out.ReadString('\n')
		var n int
		if _, bad := fmt.Sscanf(line, "ready: it has %d rows", &n); bad != nil {
			t.Fatalf("the writer says %q, %v", line, err)
		}
		if n < rows || n > rows+1 {
			t.Fatalf("%d rows were acknowledged, and there are %d", rows, n)
		}
		rows = n
		return cmd, func() (string, error) { return out.ReadString('\n') }
	}
	const before = 40
	for life := range 3 {
		cmd, next := open()
		for i := 0; ; i++ {
			line, err := next()
			if err != nil {
				break // what was printed before it died counts
			}
			if line != fmt.Sprintf("ack %d\n", rows) {
				t.Fatalf("the writer says %q", line)
			}
			if rows++; i != before {
				continue
			}
			if life == 1 {
				if err := r.peers[0].Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d rows were acknowledged", rows)
}
