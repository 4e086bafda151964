package main

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

// Where nobody listens, nobody executes a request: a client may send it to another node. Where the connection breaks
// later, somebody may have.
func TestARequestThatNobodyGot(t *testing.T) {
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
	o, err := oshost.New(oshost.Config{Name: "app", Peers: map[string]string{"gone": gone.Addr().String(), "breaks": l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for to, want := range map[string]bool{"gone": true, "breaks": false} {
		_, err := dialed{o}.Call(to, coordName, []byte{1}, time.Minute)
		if !errors.Is(err, host.ErrUnreachable) || errors.Is(err, host.ErrNoService) != want || strings.Contains(err.Error(), "service") {
			t.Errorf("%s: %v", to, err)
		}
	}
}
