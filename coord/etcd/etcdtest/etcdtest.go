//go:build unix

// Package etcdtest runs real etcd servers for tests. It needs the program etcd
// (Debian: etcd-server).
package etcdtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Server is an etcd cluster of one, whose data survives a kill.
type Server struct {
	Endpoint string // HOST:PORT

	t       testing.TB
	program string
	dir     string
	peer    string
	more    []string
	cmd     *exec.Cmd
	log     bytes.Buffer
	drained chan struct{}
}

// Start starts an etcd, which stops with the test. Further arguments configure TLS, so
// the endpoint is then https. Without the program the test is skipped; VERBATIM_NEED_ETCD
// in the environment makes it fail.
func Start(t testing.TB, more ...string) *Server {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		if os.Getenv("VERBATIM_NEED_ETCD") != "" {
			t.Fatalf("VERBATIM_NEED_ETCD is set: %v", err)
		}
		t.Skipf("needs the program etcd (Debian: etcd-server): %v", err)
	}
	s := &Server{t: t, program: program, dir: t.TempDir(), more: more}
	t.Cleanup(s.Kill)
	// Another process may take a free port before etcd does.
	for try := 0; ; try++ {
		s.Endpoint, s.peer = FreePorts(t)
		if s.start() {
			return s
		}
		if try == 3 || !strings.Contains(s.log.String(), "address already in use") {
			t.Fatalf("etcd does not start:\n%s", s.log.String())
		}
	}
}

// FreePorts returns two unused addresses.
func FreePorts(t testing.TB) (a, b string) {
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

// start returns true once the server accepts requests.
func (s *Server) start() bool {
	scheme := "http"
	if len(s.more) > 0 {
		scheme = "https"
	}
	s.cmd = exec.Command(s.program, append([]string{"--name", "test", "--data-dir", s.dir, "--logger", "zap", "--log-outputs", "stderr",
		"--listen-client-urls", scheme + "://" + s.Endpoint, "--advertise-client-urls", scheme + "://" + s.Endpoint,
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

// read keeps the log, and reports when the server is ready or has exited.
func (s *Server) read(stderr io.Reader, ready chan<- bool) {
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

// Kill kills the server.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		<-s.drained
		_ = s.cmd.Wait()
	}
}

// Restart kills the server, if it runs, and starts it again on the same data.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if !s.start() {
		s.t.Fatalf("etcd does not start again:\n%s", s.log.String())
	}
}

// Stop stops the server until Continue.
func (s *Server) Stop() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
	// The signal takes effect a little later.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		s.t.Fatalf("etcd does not stop: %v, %v", status, err)
	}
}

// Continue resumes a stopped server.
func (s *Server) Continue() {
	s.t.Helper()
	s.signal(syscall.SIGCONT)
}

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}
