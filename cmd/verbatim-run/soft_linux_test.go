package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs/hw"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// These tests run what docs/hardware.md shows for a machine without a card: processes on
// devices of software.

// softRig is a coordinator and n peers, and the flags of an application.
func softRig(t *testing.T, n int) (peers []*exec.Cmd, app string) {
	t.Helper()
	_, at := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", "1s")
	app = " --device " + soft.Name + " --coord " + at
	return softPeers(t, n, app), app
}

// softPeers are n peers with these flags.
func softPeers(t *testing.T, n int, flags string) (peers []*exec.Cmd) {
	t.Helper()
	for i := range n {
		cmd, _ := served(t, strings.Fields(fmt.Sprintf("ncl peer --name peer%d --memory 8MiB --listen 127.0.0.1:0%s", i+1, flags))...)
		peers = append(peers, cmd)
	}
	return peers
}

// feeder is a writer that is fed records.
type feeder struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
	n   int // records
}

func startWriter(t *testing.T, args string) *feeder {
	t.Helper()
	w := &feeder{cmd: program(t, strings.Fields("ncl write"+args)...)}
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in, w.out = in, launched(t, w.cmd)
	return w
}

// line is the next line that begins so.
func (w *feeder) line(t *testing.T, begin string) string {
	t.Helper()
	for {
		l, err := w.out.ReadString('\n')
		if err != nil {
			t.Fatalf("no line %q: %v", begin, err)
		}
		if strings.HasPrefix(l, begin) {
			return l
		}
	}
}

// write writes records, each after the acknowledgement of the one before.
func (w *feeder) write(t *testing.T, records int) {
	t.Helper()
	for range records {
		w.n++
		if _, err := fmt.Fprintf(w.in, "record %d\n", w.n); err != nil {
			t.Fatal(err)
		}
		w.line(t, fmt.Sprintf("ack %d\n", w.n))
	}
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if exit := new(exec.ExitError); !errors.As(cmd.Wait(), &exit) {
		t.Fatal("it was not killed")
	}
}

// A writer on three of four peers, kill -9 of one of the three, a repair, kill -9 of the
// writer and of another peer: what was acknowledged is there.
func TestSoftProcesses(t *testing.T) {
	peers, app := softRig(t, 4)
	w := startWriter(t, app+" --file wal --size 64KiB")
	of := peersOf(t, peers, w.line(t, "open:"))
	w.write(t, 20)
	kill(t, peers[of[0]])
	repaired := false
	for !repaired {
		w.n++
		if _, err := fmt.Fprintf(w.in, "record %d\n", w.n); err != nil {
			t.Fatal(err)
		}
		for l := ""; !strings.HasPrefix(l, "ack"); repaired = repaired || strings.HasPrefix(l, "repair: 3 of 3") {
			var err error
			if l, err = w.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.write(t, 5)
	kill(t, w.cmd)
	kill(t, peers[of[1]])
	w.allBack(t, app)
}

// A writer with nothing to write replaces a peer that is killed, so another one may be killed
// with it.
func TestSoftIdleWriter(t *testing.T) {
	peers, app := softRig(t, 4)
	w := startWriter(t, app+" --file wal --size 64KiB --watch-every 200ms")
	of := peersOf(t, peers, w.line(t, "open:"))
	w.write(t, 5)
	kill(t, peers[of[0]])
	w.line(t, "repair: 3 of 3")
	kill(t, w.cmd)
	kill(t, peers[of[1]])
	w.allBack(t, app)
}

// peersOf is which of the peers a line names; the file has three.
func peersOf(t *testing.T, peers []*exec.Cmd, line string) (of []int) {
	t.Helper()
	for i := range peers {
		if strings.Contains(line, fmt.Sprint("peer", i+1)) {
			of = append(of, i)
		}
	}
	if len(of) != 3 {
		t.Fatalf("the file is on %v: %s", of, line)
	}
	return of
}

// allBack recovers the file, and compares it with what was acknowledged.
func (w *feeder) allBack(t *testing.T, app string) {
	t.Helper()
	out, err := program(t, strings.Fields("ncl recover --file wal"+app)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range w.n {
		fmt.Fprintf(&want, "record %d\n", i+1)
	}
	if string(out) != want.String() {
		t.Errorf("%d records were acknowledged, and this came back:\n%s", w.n, out)
	}
}

// Without a card the commands take software by themselves, and say so.
func TestSoftByItself(t *testing.T) {
	if hw.Built {
		t.Skip("this program can open cards")
	}
	t.Setenv(asProgram, "1")
	t.Setenv("VERBATIM_RXE_DEVICES", "")
	rounds := "3"
	if testing.Short() {
		rounds = "1"
	}
	code, out, stderr := command.Call("ncl", "soak", "--rounds", rounds, "--seed", "2", "--session-ttl", "500ms", "--acks", "5", "--json")
	if code != 0 || !strings.Contains(out, `"ok":true,"rounds":`+rounds) {
		t.Errorf("exit status %d\n%s%s", code, out, stderr)
	}
	if !strings.Contains(stderr, "built without the tag rdma") || !strings.Contains(stderr, "--device soft") {
		t.Errorf("it does not say on what it runs: %s", stderr)
	}
}

// Litmus tests on the device show nothing that its profile forbids, cuts included.
func TestSoftLitmus(t *testing.T) {
	t.Chdir("../..")
	const dir = "testdata/litmus/"
	code, out, stderr := command.Call("litmus", "--device", soft.Name, "--cut", "--runs", "20", "--max-time", "5s", "--json", dir+"message-passing.litmus", dir+"flushed-may-be-executed.litmus",
		dir+"reconnect-old-write.litmus", dir+"recv-slots-polled.litmus", "--program", "A-wx_B-lx")
	if code != 0 {
		t.Fatalf("exit status %d\n%s%s", code, out, stderr)
	}
	n := 0
	for l := range strings.Lines(out) {
		var x litmusLine
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		if n++; x.Verdict != "ok" || x.Runs < 1 || x.Profile != soft.Profile {
			t.Errorf("%+v", x)
		}
	}
	if n != 5 {
		t.Errorf("%d tests ran", n)
	}
}
