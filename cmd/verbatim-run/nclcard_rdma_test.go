//go:build rdma

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests are about cards that go wrong. They need the devices of scripts/rxe-vm, and root.

// cardRig skips a test where there are no such devices.
func cardRig(t *testing.T) *nclRig {
	t.Helper()
	if os.Getenv("VERBATIM_RXE_DEVICES") == "" {
		t.Skip("no virtual machine: see scripts/rxe-vm")
	}
	return newNCLRig(t)
}

// The error of a wrong call or a broken device names the cause, the place and the remedy.
func TestNCLDeviceErrors(t *testing.T) {
	r := cardRig(t)
	const peer = "ncl peer --name x --listen 127.0.0.1:0 --memory 1MiB"
	d := r.devices[0]
	for _, x := range []struct {
		name, args string
		want       []string
	}{
		{"no device named", peer, []string{"Device is not set, and there are several: " + d, "--device"}},
		{"no such device", peer + " --device none0", []string{"--device: hw: no such device: none0; there are: " + d}},
		{"no such GID", peer + " --gid 2001:db8::1 --device " + d, []string{d, "port 1 has no GID 2001:db8::1", "it has [", "10.7.7.1"}},
		{"no such port", peer + " --device-port 9 --device " + d, []string{d, "query port 9", "ports count from 1"}},
		{"address in use", "ncl peer --name x --listen " + r.peers[0] + " --device " + d, []string{"listen on " + r.peers[0], "address already in use"}},
		{"soak of no device", "ncl soak --rounds 1 --devices none0", []string{"no such device: none0"}},
	} {
		t.Run(x.name, func(t *testing.T) { says(t, program(t, strings.Fields(x.args)...), 2, x.want...) })
	}
	t.Run("port down", func(t *testing.T) {
		system(t, "ip", "link", "set", "host2", "down")
		defer system(t, "ip", "link", "set", "host2", "up")
		says(t, program(t, strings.Fields(peer+" --device "+r.devices[2])...), 2, r.devices[2], "port 1 is in state", "bring its interface up (ip link)")
	})
	t.Run("MTU beyond the port's", func(t *testing.T) {
		system(t, "ip", "link", "set", "host2", "mtu", "1500")
		defer system(t, "ip", "link", "set", "host2", "mtu", "4200")
		says(t, program(t, strings.Fields(peer+" --mtu 4096 --device "+r.devices[2])...), 2, r.devices[2], "MTU is 4096", "raise the MTU of its interface")
	})
	t.Run("no permission", func(t *testing.T) {
		nodes, err := filepath.Glob("/dev/infiniband/uverbs*")
		if err != nil || len(nodes) == 0 {
			t.Fatal(nodes, err)
		}
		for _, n := range nodes {
			if err := os.Chmod(n, 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(n, 0o666)
		}
		says(t, asNobody(t, peer+" --device "+d, ""), 2, d, "may this user open /dev/infiniband/uverbs*?")
	})
	t.Run("locked memory", func(t *testing.T) {
		says(t, asNobody(t, peer+" --device "+d, "ulimit -l 256;"), 2, "--memory 1MiB", d, "the limit on locked memory is 262144 bytes", "ulimit -l unlimited")
	})
}

// asNobody runs verbatim-run as a user without rights, after a command of the shell.
func asNobody(t *testing.T, args, before string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", before+` exec "$@"`, "sh", self)
	cmd.Args = append(cmd.Args, strings.Fields(args)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}

// A writer whose port goes down exits with an error; its acknowledged records are not lost.
func TestNCLPortGoesDown(t *testing.T) {
	r := cardRig(t)
	cmd := program(t, strings.Fields("ncl write --size 64KiB"+r.access("down"))...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	first := make(chan struct{})
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, onFirst("ack 1\n", first)), &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "before\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first:
	case <-time.After(time.Minute):
		t.Fatal("no acknowledgement in a minute")
	}
	system(t, "ip", "link", "set", "host0", "down")
	defer system(t, "ip", "link", "set", "host0", "up")
	if _, err := io.WriteString(in, "while it is down\n"); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	t.Logf("%v\n%s%s", err, out.String(), errs.String())
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(errs.String(), "record 2: ncl: unavailable") || strings.Contains(out.String(), "ack 2") {
		t.Errorf("exit status %d", cmd.ProcessState.ExitCode())
	}
}

// onFirst closes c when text is written the first time.
func onFirst(text string, c chan struct{}) io.Writer { return &waiter{text: text, c: c} }

type waiter struct {
	text string
	c    chan struct{}
	seen bytes.Buffer
	done bool
}

func (w *waiter) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if !w.done && strings.Contains(w.seen.String(), w.text) {
		w.done = true
		close(w.c)
	}
	return len(p), nil
}
