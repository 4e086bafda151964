package oshost

import (
	"errors"
	"net"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

// A call to an address where nobody listens sent nothing, so the caller may repeat it. A call whose connection broke may
// have been carried out.
func TestOnlyAFailedDialIsNotSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	h := newHost(t, Config{Name: "app", Peers: map[string]string{"gone": gone.Addr().String(), "breaks": l.Addr().String()}})
	for to, want := range map[string]bool{"gone": true, "breaks": false} { //lint:ordered each call is on its own
		_, err := h.Call(to, "echo", []byte{1}, patience)
		if !errors.Is(err, host.ErrUnreachable) || errors.Is(err, host.ErrNotSent) != want || host.Undelivered(err) != want {
			t.Errorf("%s: %v", to, err)
		}
	}
}
