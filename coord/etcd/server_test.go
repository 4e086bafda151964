package etcd_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
)

// server is a cluster of one real etcd, whose data outlives a kill.
type server struct {
	t        *testing.T
	program  string
	dir      string
	endpoint string
	peer     string
	more     []string
	cmd      *exec.Cmd
	log      bytes.Buffer
	drained  chan struct{}
}

// newServer starts an etcd, which ends with the test.
func newServer(t *testing.T, more ...string) *server {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no etcd in CI: %v", err)
		}
		t.Skipf("needs the program etcd (Debian: etcd-server): %v", err)
	}
	s := &server{t: t, program: program, dir: t.TempDir(), more: more}
	t.Cleanup(s.kill)
	// Between asking for a free port and taking it, somebody else may take it.
	for try := 0; ; try++ {
		s.endpoint, s.peer = freePorts(t)
		if s.start() {
			return s
		}
		if try == 3 || !strings.Contains(s.log.String(), "address already in use") {
			t.Fatalf("etcd does not start:\n%s", s.log.String())
		}
	}
}

func freePorts(t *testing.T) (a, b string) {
	t.Helper()
	addr := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		defer l.Close()
		return l.Addr().String()
	}
	return addr(), addr()
}

// start is true once the server takes requests.
func (s *server) start() bool {
	scheme := "http"
	if len(s.more) > 0 {
		scheme = "https"
	}
	s.cmd = exec.Command(s.program, append([]string{"--name", "test", "--data-dir", s.dir, "--logger", "zap", "--log-outputs", "stderr",
		"--listen-client-urls", scheme + "://" + s.endpoint, "--advertise-client-urls", scheme + "://" + s.endpoint,
		"--listen-peer-urls", "http://" + s.peer, "--initial-advertise-peer-urls", "http://" + s.peer,
		"--initial-cluster", "test=http://" + s.peer,
		// A leader at once, and sessions as short as one second.
		"--heartbeat-interval", "10", "--election-timeout", "100"}, s.more...)...)
	s.log.Reset()
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.drained = make(chan struct{})
	ready := make(chan bool, 1)
	go s.read(stderr, ready)
	return <-ready
}

// read keeps the log, and says when the server is ready or has ended.
func (s *server) read(stderr io.Reader, ready chan<- bool) {
	defer close(s.drained)
	said := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if said {
			continue
		}
		fmt.Fprintln(&s.log, lines.Text())
		if strings.Contains(lines.Text(), "serving client traffic") {
			said = true
			ready <- true
		}
	}
	if !said {
		ready <- false
	}
}

func (s *server) kill() {
	if s.cmd != nil && s.cmd.Process != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		<-s.drained
		_ = s.cmd.Wait()
	}
}

func (s *server) restart() {
	s.t.Helper()
	s.kill()
	if !s.start() {
		s.t.Fatalf("etcd does not start again:\n%s", s.log.String())
	}
}

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

var prefixes atomic.Int64

// config is for a name space of its own.
func (s *server) config() etcd.Config {
	return etcd.Config{Endpoints: []string{s.endpoint}, Name: "a", Prefix: fmt.Sprintf("test/%d/", prefixes.Add(1)),
		TTL: time.Second, CallTimeout: 10 * time.Second}
}

func newClient(t *testing.T, cfg etcd.Config) *etcd.Client {
	t.Helper()
	c, err := etcd.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// raw is somebody else's client, who has the same rights.
func (s *server) raw() *clientv3.Client {
	s.t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.endpoint}, Logger: zap.NewNop()})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func newSession(t *testing.T, c coord.Client) coord.Session {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
