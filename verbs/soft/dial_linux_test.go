package soft

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// full is the port of a listener that takes no connection: the system leaves what asks for
// one without an answer.
func full(t *testing.T) uint16 {
	t.Helper()
	fd := must[int](t)(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0))
	t.Cleanup(func() { check(t, syscall.Close(fd)) })
	check(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(t, syscall.Listen(fd, 0))
	at := must[syscall.Sockaddr](t)(syscall.Getsockname(fd)).(*syscall.SockaddrInet4)
	for range 2 { // one more than it keeps for later
		c, err := net.DialTimeout("tcp", (&net.TCPAddr{IP: at.Addr[:], Port: at.Port}).String(), 50*time.Millisecond)
		if err == nil {
			t.Cleanup(func() { check(t, c.Close()) })
		}
	}
	return uint16(at.Port)
}

// Close waits for the tasks of queue pairs that are gone, and the time that a peer may be
// silent can be an hour. So a queue pair that goes ends its try to connect.
func TestDestroyEndsATryToConnect(t *testing.T) {
	atOnce, asked, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	close(atOnce)
	defer close(over)
	for name, peer := range map[string]struct {
		port  uint16
		tried chan struct{} // closed when the rest is up to the peer, if it learns of it
	}{"no answer": {full(t), atOnce}, "no welcome": {silent(t, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, helloSize)); err == nil {
			close(asked)
		}
		<-over
		_ = c.Close() // it may have gone
	}), asked}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, verbs.QPConfig{})
			r.d.cfg.Timeout = time.Hour
			r.q.remote.LID = peer.port
			l := r.held(t)
			ended := make(chan error, 1)
			go func() {
				_, err := l.try()
				ended <- err
			}()
			<-peer.tried
			r.q.mu.Lock()
			r.q.letGo()
			r.q.mu.Unlock()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it is connected")
				}
			case <-time.After(patience):
				t.Error("it goes on")
			}
		})
	}
}
