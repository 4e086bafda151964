package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
)

// A session that ends in the middle of writes: the writer must stop and say so, and the
// next one must find all that was acknowledged.

// running is a writer that is fed records until it ends.
type running struct {
	cmd  *exec.Cmd
	errs bytes.Buffer // to be read when it has ended
	acks chan int     // each acknowledgement; closed when it has ended
	last int
}

func runWriter(t *testing.T, args string) *running {
	t.Helper()
	w := &running{cmd: program(t, strings.Fields(args)...), acks: make(chan int, 1<<20)}
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.cmd.Stderr = &w.errs
	w.cmd.Stdout = eachLine(func(line string) {
		var n int
		if _, err := fmt.Sscanf(line, "ack %d", &n); err == nil {
			w.acks <- n
		}
	})
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = w.cmd.Wait() // the exit status tells
		close(w.acks)
	}()
	go func() {
		for i := 1; err == nil; i++ {
			_, err = fmt.Fprintf(in, "record %d\n", i)
		}
	}()
	return w
}

// eachLine is a writer that calls f for each line; a line is one write of the program.
type eachLine func(line string)

func (f eachLine) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		f(line)
	}
	return len(p), nil
}

// acked waits for n more acknowledgements than there are now.
func (w *running) acked(t *testing.T, n int) {
	t.Helper()
	n += w.last + len(w.acks)
	late := time.After(time.Minute)
	for w.last < n {
		select {
		case got, ok := <-w.acks:
			if !ok {
				t.Fatalf("it has ended after %d\n%s", w.last, w.errs.String())
			}
			w.last = got
		case <-late:
			t.Fatalf("no acknowledgement %d in a minute", n)
		}
	}
}

// ended waits until it has ended by itself because its session is over.
func (w *running) ended(t *testing.T) {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = w.cmd.Process.Kill() })
	defer late.Stop()
	for n := range w.acks {
		w.last = n
	}
	t.Logf("after record %d: %s", w.last, w.errs.String())
	if got := w.cmd.ProcessState.ExitCode(); got != 3 || !strings.Contains(w.errs.String(), "the session of this instance is over") {
		t.Errorf("exit status %d", got)
	}
}

// recovers finds every record that was acknowledged, and those behind them.
func recovers(t *testing.T, app string, acked int) {
	t.Helper()
	cmd := program(t, strings.Fields("ncl recover"+app)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if n++; line != fmt.Sprintf("record %d\n", n) {
			t.Fatalf("record %d is %q", n, line)
		}
	}
	if n < acked {
		t.Errorf("%d records were acknowledged, and %d came back", acked, n)
	}
	t.Logf("%d acknowledgements were taken, and %d records came back", acked, n)
}

// A writer that is stopped for longer than its session continues as a zombie; another
// process has the file by then.
func TestNCLZombie(t *testing.T) {
	r := newRichRig(t, "16MiB")
	app := r.app("wal")
	w := runWriter(t, "ncl write --size 4MiB"+app)
	w.acked(t, 20)
	says(t, program(t, strings.Fields("ncl recover --wait 0s"+app)...), 3, "an instance of the application is running", "--wait")
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	recovers(t, app, w.last)
	if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.ended(t)
	recovers(t, app, w.last)
}

// On etcd a writer continues while the controller is gone, and exits when an operator ends
// its session.
func TestNCLSessionRevoked(t *testing.T) {
	s := etcdtest.Start(t)
	r := newRichRig(t, "16MiB", "--etcd", s.Endpoint, "--etcd-ttl", "10s")
	app := r.app("wal")
	w := runWriter(t, "ncl write --size 4MiB"+app)
	w.acked(t, 20)
	s.Kill()
	w.acked(t, 20) // a write does not involve the controller
	s.Restart()
	revoke(t, s.Endpoint)
	w.ended(t)
	recovers(t, app, w.last)
}

// revoke ends the session of app, as `etcdctl lease revoke` does.
func revoke(t *testing.T, endpoint string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const sessions = "verbatim/sessions/"
	got, err := c.Get(ctx, sessions, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(got.Kvs, func(kv *mvccpb.KeyValue) bool { return string(kv.Value) == "app" })
	if i < 0 {
		t.Fatalf("app has none of the sessions %v", got.Kvs)
	}
	if _, err := c.Revoke(ctx, clientv3.LeaseID(got.Kvs[i].Lease)); err != nil {
		t.Fatal(err)
	}
}
