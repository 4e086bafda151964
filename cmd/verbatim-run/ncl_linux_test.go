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
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/internal/codec/reclog"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// asProgram in the environment makes this test program behave as verbatim-run itself.
const asProgram = "VERBATIM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// program is a command that runs verbatim-run as a process of its own.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// launched starts a process that ends with the test at the latest, and returns a reader of
// what it prints.
func launched(t testing.TB, cmd *exec.Cmd) *bufio.Reader {
	t.Helper()
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone
		_ = cmd.Wait()
	})
	return bufio.NewReader(out)
}

// served starts a process, waits until it is ready, and returns its address.
func served(t testing.TB, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := program(t, args...)
	line, err := launched(t, cmd).ReadString('\n')
	word := strings.Fields(line)
	if err != nil || len(word) < 4 || word[0] != "ready:" {
		t.Fatalf("%v says %q, %v", args, line, err)
	}
	return cmd, word[3]
}

// clientOf is host name's access to the coordinator at addr.
func clientOf(t testing.TB, name, addr string) coord.Client {
	t.Helper()
	h, err := oshost.New(oshost.Config{Name: name, Peers: map[string]string{coordName: addr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return coord.NewClient(h, coordName, coordName)
}

func TestNCLUsage(t *testing.T) {
	const peers = " --peer a=h:1 --peer b=h:2 --peer c=h:3"
	text := filepath.Join(t.TempDir(), "text")
	clitest.Write(t, text, "hello")
	for _, x := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"ncl pear", 2, "pear"},
		{"ncl peer", 2, "--name is required"},
		{"ncl peer --name a/b", 2, `Name "a/b"`},
		{"ncl peer --name a --memory 0", 2, "want a number of bytes, such as"},
		{"ncl peer --name a --memory 1TB", 2, "want a number of bytes, such as"},
		{"ncl peer --name a --ack-timeout 1ns", 2, "--ack-timeout 1ns: want 10µs to 2h20m"},
		{"ncl peer --name a --ack-timeout 100h", 2, "want 10µs to 2h20m"},
		{"ncl peer --name a --device-port 256", 2, "Port is 256; it must be 0 to 255"},
		{"ncl peer --name a --mtu 1500", 2, "must be one of [256 512"},
		{"ncl peer --name a --gid nonsense", 2, `GID "nonsense" is not an address`},
		{"ncl peer --name a --tls-ca x", 2, "pass all three or none"},
		{"ncl peer --name a --tls-ca x --tls-cert none.pem --tls-key none.pem", 2, "--tls-cert none.pem, --tls-key none.pem: open none.pem"},
		{"ncl peer --name a --device soft --mtu 1024", 2, "--mtu, --device-port, --pkey-index and --relaxed-ordering apply to cards only"},
		{"ncl peer --name a --device soft --gid 192.0.2.77", 2, "192.0.2.77"},
		{"ncl peer extra", 2, "extra"},
		{"ncl coord --listen nowhere:port", 2, "listen on nowhere:port"},
		{"ncl coord --listen 192.0.2.77:0", 2, "listen on 192.0.2.77:0"},
		{"ncl write --file w --watch-every 1ms", 2, "--watch-every 1ms: at least 100ms, or 0 for never"},
		{"ncl peer --name a --device soft --relaxed-ordering", 2, "--relaxed-ordering apply to cards only"},
		{"ncl write", 2, "--file is required"},
		{"ncl write --file w --f 1 --peer a=h:1", 2, "--peer was given 1 times: surviving f failures takes 2f+1 peers, 3"},
		{"ncl write --file w --f 8", 2, "--f 8: it must be 0 to 7"},
		{"ncl peer --name coord", 2, "--name coord is reserved for the coordinator"},
		{"ncl peer --name a --listen :7001", 2, "pass the address to register with --advertise"},
		{"ncl peer --name a --listen [::]:7001", 2, "pass the address to register with --advertise"},
		{"ncl peer --name a --unlisted --advertise h:1", 2, "--advertise and --unlisted exclude each other"},
		{"ncl peer --name a --collect-every -1s", 2, "--collect-every -1s"},
		{"ncl peer --name a --etcd h:1 --coord h:2", 2, "--coord and --etcd exclude each other"},
		{"ncl peers --coord 127.0.0.1:1", 3, "--coord 127.0.0.1:1: coord: unavailable"},
		{"ncl coord --session-ttl 300ms", 2, "--session-ttl 300ms: it must be at least 400ms"},
		{"ncl write --file w --peer a=h:1 --peer b=h:2", 2, "--peer was given 2 times"},
		{"ncl write --file w --peer ab", 2, `--peer "ab": want NAME=ADDRESS`},
		{"ncl write --file w --peer app=h:1", 2, "the name app is already in use"},
		{"ncl write --file w --peer coord=h:1", 2, "the name coord is already in use"},
		{"ncl write --file w --call-timeout 0s" + peers, 2, "--call-timeout 0s"},
		{"ncl write --file w --resume --size 1KiB" + peers, 2, "omit it with --resume"},
		{"ncl write --file w --show" + peers, 2, "--show needs --resume"},
		{"ncl write --file w --size 2GiB" + peers, 2, "--size 2GiB: at most"},
		{"ncl write --file w --etcd h:1 --coord h:2" + peers, 2, "--coord and --etcd exclude each other"},
		{"ncl write --file w --etcd h:1,h" + peers, 2, `endpoint "h": want HOST:PORT`},
		{"ncl write --file w --etcd-user u" + peers, 2, "--etcd-user needs --etcd"},
		{"ncl recover --file w --etcd h:1 --etcd-ttl 1ms" + peers, 2, "a session of 1ms: want whole seconds"},
		{"ncl recover --file w --etcd h:1 --etcd-user u --etcd-password-file none.txt" + peers, 2, "--etcd-password-file: open none.txt"},
		{"ncl recover --file w --json --framed" + peers, 2, "json framed"},
		{"ncl mount", 2, "takes a folder"},
		{"ncl mount /proc", 2, "--dir is required"},
		{"ncl mount /proc --dir " + text, 2, "no file would go to the peers"},
		{"ncl mount /proc --preset rediss --dir " + text, 2, "did you mean redis?"},
		{"ncl mount /proc --ncl [a --dir " + text, 2, `pattern "[a"`},
		{"ncl mount /proc --ncl *.log --region 1KiB --max-region 512 --dir " + text, 2, "regions of 1024 to 512 bytes"},
		{"ncl mount /proc --ncl *.log --dir " + text, 2, "text: not a directory\n"},
		{"ncl mount /proc --ncl *.log --dir " + filepath.Dir(text), 2, "is in use"},
		{"ncl soak --devices none0 --spares -1", 2, "-1 spare peers"},
		{"ncl soak --devices none0 --program x --session-ttl 300ms", 2, "--session-ttl 300ms: it must be at least 400ms"},
		{"ncl soak --devices none0 --program x --session-ttl 1500ms --etcd h:1", 2, "etcd counts whole seconds"},
		{"ncl soak --devices none0 --program x --session-ttl 40s", 2, "at most half of the patience, 1m0s"},
		{"ncl soak --devices none0 --rounds 0", 2, "0 rounds"},
		{"ncl soak --devices none0 --record 1", 2, "records of at most 1 bytes"},
		{"ncl soak --devices none0 --size 1KiB", 2, "files of 1024 bytes; with these records, want"},
		{"ncl soak --devices none0 --program /none --dir " + t.TempDir(), 2, "/none: no such file"},
		{"ncl soak --devices none0,none1 --seed 3 --f 2 --program /none --dir " + t.TempDir(), 2,
			"repeat the plan with: verbatim-run ncl soak --seed 3 --devices none0,none1 --f 2 --program /none\n"},
		{"ncl soak --devices none0 --program " + text + " --dir " + t.TempDir(), 2, "permission denied"},
	} {
		code, _, stderr := command.Call(strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(stderr, x.stderr) {
			t.Errorf("%s: exit status %d, want %d with %q; stderr:\n%s", x.args, code, x.code, x.stderr, stderr)
		}
	}
}

// Without the tag every command that names a card explains how to build with it.
func TestNCLNotBuilt(t *testing.T) {
	if hw.Built {
		t.Skip("this program can open cards")
	}
	t.Setenv("VERBATIM_RXE_DEVICES", "")
	for _, args := range []string{"ncl peer --device none0 --name a --listen 127.0.0.1:0", "ncl write --device none0 --file w --peer a=127.0.0.1:1",
		"ncl recover --device none0 --file w --peer a=127.0.0.1:1", "ncl soak --devices none0", "ncl soak --devices soft,none0"} {
		code, _, stderr := command.Call(strings.Fields(args)...)
		if code != 2 || !strings.Contains(stderr, "go build -tags rdma") || !strings.Contains(stderr, "libibverbs-dev") {
			t.Errorf("%s: exit status %d; stderr:\n%s", args, code, stderr)
		}
	}
}

func TestNCLCoord(t *testing.T) {
	cmd, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0")
	for range 300 { // as many processes, and more
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	c := clientOf(t, "app", addr)
	if err := c.Create("k", []byte("v"), coord.NoSession); err != nil {
		t.Fatal(err)
	}
	if v, _, err := c.Get("k"); string(v) != "v" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// memoryFile is a file of one process. Record calls during before it returns.
type memoryFile struct {
	b      []byte
	during func() error
}

func (f *memoryFile) Size() int { return len(f.b) }

func (f *memoryFile) ReadAt(p []byte, off int) (int, error) { return copy(p, f.b[off:]), nil }

func (f *memoryFile) Record(off int, data []byte) error {
	copy(f.b[off:], data)
	if f.during != nil {
		return f.during()
	}
	return nil
}

func writer(t *testing.T, f *memoryFile) *logWriter {
	t.Helper()
	l, err := readLog(f)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newLogWriter(f, l)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func lineReader(text string) *recordReader {
	return &recordReader{r: bufio.NewReaderSize(strings.NewReader(text), 16), limit: 40}
}

// A record is acknowledged after the protocol has, and before the next is taken.
func TestAcknowledgements(t *testing.T) {
	f := &memoryFile{b: make([]byte, 200)}
	var acks bytes.Buffer
	n := 0
	f.during = func() error {
		if got := strings.Count(acks.String(), "ack"); got != n {
			t.Errorf("%d acknowledgements while record %d is written", got, n+1)
		}
		n++
		return nil
	}
	w := writer(t, f)
	if err := w.writeAll(lineReader("one\n\nthree\r\n"+strings.Repeat("x", 40)+"\nlast"), &acks); err != nil {
		t.Fatal(err)
	}
	if acks.String() != "ack 1\nack 2\nack 3\nack 4\nack 5\n" {
		t.Errorf("%q", acks.String())
	}
	if got := fmt.Sprintf("%q", reclog.Scan(f.b).Records); got != fmt.Sprintf("%q", []string{"one", "", "three\r", strings.Repeat("x", 40), "last"}) {
		t.Error(got)
	}
	// What fails has no line, and nothing after it is tried.
	f.during = func() error { return io.ErrClosedPipe }
	acks.Reset()
	if err := writer(t, f).writeAll(lineReader("six\nseven\n"), &acks); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "record 6") || acks.Len() > 0 {
		t.Errorf("%v, %q", err, acks.String())
	}
}

// The remains of a record make room for the next one, so that they cannot follow it.
func TestRemainsAreWiped(t *testing.T) {
	b := reclog.Append(nil, []byte("kept"))
	torn := reclog.Append(nil, reclog.Append(bytes.Repeat([]byte{'x'}, 3), []byte("a record within a record")))
	torn[4]++
	f := &memoryFile{b: append(append(b, torn...), make([]byte, 30)...)}
	w := writer(t, f)
	if err := w.append(bytes.Repeat([]byte{'y'}, 3)); err != nil {
		t.Fatal(err)
	}
	if l := reclog.Scan(f.b); len(l.Records) != 2 || l.Remains != 0 {
		t.Errorf("%+v", l)
	}
}

func TestRecordReaders(t *testing.T) {
	frame := func(s string) string { return string([]byte{0, 0, 0, byte(len(s))}) + s }
	for _, x := range []struct {
		framed bool
		in     string
		want   string // of the records, or of the error
	}{
		{false, "", "[]"},
		{false, "\n", `[""]`},
		{false, "a\nb", `["a" "b"]`},
		{false, strings.Repeat("x", 41) + "\n", "longer than the 40 bytes"},
		{true, "", "[]"},
		{true, frame("") + frame("a\nb"), `["" "a\nb"]`},
		{true, "\x00\x00", "inside the length"},
		{true, frame("abc")[:6], "after 2 of its 3 bytes"},
		{true, "hello, world", "its length is 1751477356 bytes"},
	} {
		r := lineReader(x.in)
		r.framed = x.framed
		got := [][]byte{}
		var err error
		for err == nil {
			var b []byte
			if b, err = r.next(); err == nil {
				got = append(got, b)
			}
		}
		text := fmt.Sprintf("%q", got)
		if !errors.Is(err, io.EOF) {
			text = err.Error()
		}
		if !strings.Contains(text, x.want) {
			t.Errorf("%q: %s, want %s", x.in, text, x.want)
		}
	}
	w := writer(t, &memoryFile{b: make([]byte, 40)})
	if err := w.append(make([]byte, 33)); err == nil || !strings.Contains(err.Error(), "record 1 needs 41 bytes, and 40 of the file's 40") {
		t.Error(err)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]string{"1": "1", "1024": "1KiB", "64KiB": "64KiB", "3MiB": "3MiB", "1536KiB": "1536KiB", "2GiB": "2GiB"} {
		var s size
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s: %v, %v", text, &s, err)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "0", "1.5MiB", "9999999999GiB", "1kb", "1 KiB"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is taken for %v", text, &s)
		}
	}
}

// says runs verbatim-run and compares its exit status and its output.
func says(t *testing.T, cmd *exec.Cmd, code int, want ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	if err == nil {
		late := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		late.Stop()
	}
	t.Logf("%s", out.String())
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit status %d, want %d", got, code)
	}
	for _, s := range want {
		if !strings.Contains(out.String(), s) {
			t.Errorf("it does not say %q", s)
		}
	}
}

func system(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
