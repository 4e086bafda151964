package coord_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/coordtest"
	"github.com/verbatim-rdma/verbatim/host"
)

func TestClient(t *testing.T) {
	coordtest.Run(t, func() coordtest.Service { return service(new(coord.Store)) })
}

// The suite must also pass on a store that was used and reset.
func TestClientAfterReset(t *testing.T) {
	var store coord.Store
	coordtest.Run(t, func() coordtest.Service {
		store.Reset()
		return service(&store)
	})
}

func service(store *coord.Store) coordtest.Service {
	return func(host string) coord.Client {
		_, c := newClient(store, host)
		return c
	}
}

// operations calls every operation once.
func operations(c coord.Client) map[string]error {
	_, _, getErr := c.Get("k")
	_, setErr := c.Set("k", nil, 1)
	_, listErr := c.List("k")
	_, sessionErr := c.NewSession()
	return map[string]error{
		`get "k"`: getErr, `set "k"`: setErr, `list "k"`: listErr, "new session": sessionErr,
		`create "k" in session 7`: c.Create("k", nil, 7), `delete "k"`: c.Delete("k", 1),
		"check session in session 7": c.CheckSession(7), "close session in session 7": c.CloseSession(7),
	}
}

func TestUnavailable(t *testing.T) {
	for _, cause := range []error{host.ErrTimeout, host.ErrUnreachable, host.ErrNoService,
		&host.RemoteError{Host: "zk", Service: "coord", Reason: "starting"}} {
		h, c := newClient(new(coord.Store), "a")
		h.err = fmt.Errorf("the link: %w", cause)
		for name, err := range operations(c) {
			if !errors.Is(err, coord.ErrUnavailable) || !errors.Is(err, cause) {
				t.Errorf("%s: %v wraps not both ErrUnavailable and %v", name, err, cause)
			}
			if !strings.HasSuffix(err.Error(), "("+name+")") {
				t.Errorf("%s: %q does not say so", name, err)
			}
		}
	}
}

func TestMalformedAnswers(t *testing.T) {
	for _, answer := range []string{"", "\xff", "\x06", "\x00\x01", "\x00\x09short", "\x00" + "12345678" + "\x05x"} {
		h, c := newClient(nil, "a")
		h.fixed = []byte(answer)
		for name, err := range operations(c) {
			if strings.HasPrefix(name, "get") && len(answer) > 9 {
				continue // a valid value
			}
			if !errors.Is(err, coord.ErrUnavailable) {
				t.Errorf("%s answered with %q: got error %v, want ErrUnavailable", name, answer, err)
			}
		}
	}
}

// A request that exceeds the limits is not sent, so its failure is certain.
func TestLimitsAreLocal(t *testing.T) {
	h, c := newClient(new(coord.Store), "a")
	h.err = host.ErrTimeout
	if err := c.Create(strings.Repeat("k", coord.MaxKey+1), nil, 0); !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
	if h.calls != 0 {
		t.Error("the request was sent")
	}
}

func TestLostAnswer(t *testing.T) {
	var store coord.Store
	h, c := newClient(&store, "a")
	h.err, h.lost = host.ErrTimeout, true
	if err := c.Create("k", []byte("v"), 0); !errors.Is(err, coord.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	h.err = nil
	if _, _, err := c.Get("k"); err != nil {
		t.Errorf("the create was not carried out: %v", err)
	}
}

func ExampleClient() {
	var store coord.Store // under the simulator this is a service on host "zk"
	_, a := newClient(&store, "a")
	_, b := newClient(&store, "b")

	// Whoever creates the key leads. It vanishes with the leader's session.
	mine, _ := a.NewSession()
	fmt.Println(a.Create("leader", []byte("a"), mine))
	theirs, _ := b.NewSession()
	fmt.Println(b.Create("leader", []byte("b"), theirs))

	// The epoch guards against a deposed leader that does not know it.
	a.Create("epoch", []byte("1"), coord.NoSession)
	_, version, _ := a.Get("epoch")
	store.ExpireHost("a")
	fmt.Println(b.Create("leader", []byte("b"), theirs))
	b.Set("epoch", []byte("2"), coord.AnyVersion)
	_, err := a.Set("epoch", []byte("2"), version)
	fmt.Println(err)
	// Output:
	// <nil>
	// coord: key exists (create "leader" in session 2)
	// <nil>
	// coord: key has another version (set "epoch")
}
