package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// These tests run on the devices of scripts/rxe-vm, three or more, and elsewhere on devices of
// software. They mount, and need root for it.

// mountRig is a coordinator, three peers and what a mount takes.
type mountRig struct {
	coord   *exec.Cmd
	coordAt string
	devices []string
	peers   []*exec.Cmd
	flags   []string
	at      string
}

func newMountRig(t *testing.T, dir string, more ...string) *mountRig {
	t.Helper()
	mountable(t)
	devices := testDevices()
	coord, at := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", "2s")
	r := &mountRig{coord: coord, coordAt: at, devices: devices, at: t.TempDir()}
	r.flags = append([]string{"ncl", "mount", r.at, "--dir", dir, "--device", devices[len(devices)-1], "--call-timeout", "20s", "--coord", at,
		"--region", "256KiB"}, more...)
	for range 3 {
		r.peer(t)
	}
	return r
}

// mountable skips a test where nothing can be mounted.
func mountable(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/fuse: ", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		t.Skip("mounting without fusermount3 takes root")
	}
}

// peer starts one more peer.
func (r *mountRig) peer(t *testing.T) {
	t.Helper()
	i := len(r.peers)
	cmd, _ := served(t, "ncl", "peer", "--name", fmt.Sprint("peer", i+1), "--device", r.devices[i%len(r.devices)], "--memory", "16MiB",
		"--listen", "127.0.0.1:0", "--coord", r.coordAt)
	r.peers = append(r.peers, cmd)
}

func (r *mountRig) mount(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd, _ := served(t, r.flags...)
	t.Cleanup(func() { _ = syscall.Unmount(r.at, syscall.MNT_DETACH) }) // it may be unmounted
	return cmd
}

// started starts another program and returns a reader of what it prints.
func started(t *testing.T, stdin io.Reader, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = stdin
	return cmd, launched(t, cmd)
}

// redis starts a server on the mount, and connects to it once it is ready.
func redis(t *testing.T, at string) (*exec.Cmd, net.Conn) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "redis")
	cmd, out := started(t, nil, "redis-server", "--dir", at, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "yes",
		"--appendfsync", "always")
	var said bytes.Buffer
	for {
		line, err := out.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("redis-server: %v\n%s", err, said.String())
		}
		if strings.Contains(line, "accept connections") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return cmd, c
}

// toRedis sets keys until the server is gone, and reports each that is acknowledged.
func toRedis(c net.Conn, acked chan<- int) {
	defer close(acked)
	in := bufio.NewReader(c)
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(c, "SET key%d value%d\r\n", i, i); err != nil {
			return
		}
		if line, err := in.ReadString('\n'); err != nil || line != "+OK\r\n" {
			return
		}
		acked <- i
	}
}

// toSQLite inserts rows until the shell is gone, and reports each that is committed.
func toSQLite(in io.Writer, out *bufio.Reader, acked chan<- int) {
	defer close(acked)
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(in, "INSERT INTO t VALUES (%d, 'row %d'); SELECT 'committed';\n", i, i); err != nil {
			return
		}
		if line, err := out.ReadString('\n'); err != nil || line != "committed\n" {
			return
		}
		acked <- i
	}
}

// atLeast takes acknowledgements until there are so many.
func atLeast(t *testing.T, what string, acked <-chan int, n int) {
	t.Helper()
	for range n {
		if _, ok := <-acked; !ok {
			t.Fatalf("%s has ended", what)
		}
	}
}

// last is the number of the last acknowledgement.
func last(acked <-chan int, sofar int) int {
	for i := range acked {
		sofar = i
	}
	return sofar
}

// Redis and SQLite write through a mount; they, the mount and a peer are killed in
// the middle. On a fresh mount nothing that was acknowledged is missing.
func TestMountKilled(t *testing.T) {
	for _, p := range []string{"redis-server", "sqlite3", "stdbuf"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip("the program is not installed: ", err)
		}
	}
	const before = 40 // acknowledgements
	dir := t.TempDir()
	r := newMountRig(t, dir, "--preset", "redis,sqlite")
	mount := r.mount(t)
	server, conn := redis(t, r.at)
	db := filepath.Join(r.at, "x.db")
	stdin, sql := io.Pipe()
	shell, out := started(t, stdin, "stdbuf", "-oL", "sqlite3", db)
	if _, err := io.WriteString(sql, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (i INTEGER PRIMARY KEY, x TEXT);\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); line != "wal\n" || err != nil {
		t.Fatalf("sqlite3 says %q, %v", line, err)
	}
	keys, rows := make(chan int, 1<<20), make(chan int, 1<<20)
	go toRedis(conn, keys)
	go toSQLite(sql, out, rows)
	atLeast(t, "redis", keys, before)
	atLeast(t, "sqlite3", rows, before)
	for _, cmd := range []*exec.Cmd{r.peers[0], mount, server, shell} {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	_ = stdin.Close()
	lastKey, lastRow := last(keys, before-1), last(rows, before-1)
	_ = mount.Wait()
	says(t, program(t, r.flags...), 2, "umount -l "+r.at)
	system(t, "umount", "-l", r.at)
	if stubs, err := filepath.Glob(dir + "/appendonlydir/*.incr.aof"); err != nil || len(stubs) != 1 {
		t.Fatal(stubs, err)
	} else if st, err := os.Stat(stubs[0]); err != nil || st.Size() > 64 {
		t.Errorf("the log of Redis is not on the peers: %v, %v", st, err)
	}

	r.mount(t)
	_, conn = redis(t, r.at)
	in := bufio.NewReader(conn)
	for i := range lastKey + 1 {
		fmt.Fprintf(conn, "GET key%d\r\n", i)
		size, err := in.ReadString('\n')
		if !strings.HasPrefix(size, "$") || size == "$-1\r\n" {
			t.Fatalf("key %d of %d: %q, %v", i, lastKey+1, size, err)
		}
		if value, err := in.ReadString('\n'); value != fmt.Sprintf("value%d\r\n", i) {
			t.Fatalf("key %d of %d is %q, %v", i, lastKey+1, value, err)
		}
	}
	got, err := exec.Command("sqlite3", db, "PRAGMA integrity_check; SELECT count(*) >= "+fmt.Sprint(lastRow+1)+
		", count(*) = max(i) + 1, sum(x <> 'row ' || i) FROM t").CombinedOutput()
	if err != nil || string(got) != "ok\n1|1|0\n" {
		t.Errorf("%d rows were committed, and sqlite3 says %q, %v", lastRow+1, got, err)
	}
	t.Logf("%d keys and %d rows were acknowledged", lastKey+1, lastRow+1)
}

// Failures are reported, and earlier acknowledged data stays.
func TestMountErrors(t *testing.T) {
	dir := t.TempDir()
	r := newMountRig(t, dir, "--ncl", "*.wal", "--max-region", "256KiB")
	system(t, "mount", "-t", "tmpfs", "-o", "size=256k", "none", dir)
	defer system(t, "umount", "-l", dir)
	r.mount(t)
	in := func(name string) string { return filepath.Join(r.at, name) }
	if err := os.WriteFile(in("a.wal"), []byte("acknowledged"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, program(t, r.flags...), 2, "is in use")
	if err := os.WriteFile(in("b.wal"), make([]byte, 300<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a file larger than a region: %v", err)
	}
	if err := os.WriteFile(in("full"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full directory: %v", err)
	}
	if f, err := os.Create(in("c.wal")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("no room for a stub: %v %v", f, err)
	}
	if err := os.Remove(in("full")); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.peers[:2] {
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait() // until then its card acknowledges
	}
	f, err := os.OpenFile(in("a.wal"), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("lost"); !errors.Is(err, syscall.EIO) {
		t.Errorf("with more than f peers gone: %v", err)
	}
	b := make([]byte, 12)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "acknowledged" {
		t.Errorf("%q %v", b, err)
	}
	_ = f.Close()
	system(t, "umount", "-l", r.at)
	if err := r.coord.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	says(t, program(t, r.flags...), 3, "--coord 127.0.0.1", "unreachable")
}
