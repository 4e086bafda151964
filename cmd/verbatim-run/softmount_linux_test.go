package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A log file on a mount whose process is killed, and a peer too, is there on the next mount,
// with all that was written: on devices of software.
func TestSoftMount(t *testing.T) {
	mountable(t)
	peers, app := softRig(t, 4)
	at := t.TempDir()
	flags := append([]string{"ncl", "mount", at, "--dir", t.TempDir(), "--ncl", "*.log", "--region", "64KiB"}, strings.Fields(app)...)
	unmount := func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) } // it may be unmounted
	t.Cleanup(unmount)
	mount, _ := served(t, flags...)
	name := filepath.Join(at, "app.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 50 {
		line := fmt.Sprintf("line %d\n", i)
		want.WriteString(line)
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	kill(t, mount)
	kill(t, peers[0])
	_ = f.Close() // whose mount is gone
	unmount()
	served(t, flags...)
	if got, err := os.ReadFile(name); err != nil || string(got) != want.String() {
		t.Errorf("%v, and this came back:\n%s", err, got)
	}
	if st, err := os.Stat(filepath.Join(flags[4], "app.log")); err != nil || st.Size() > 64 {
		t.Errorf("the file is not on the peers: %v", err)
	}
}
