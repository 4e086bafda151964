package raftr

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// answers is a host whose calls have these answers, one after the other; an answer without bytes is a timeout.
type answers struct {
	host.Host
	left  []*reply
	none  error    // of further calls
	asked []string // nodes
}

func (a *answers) Sleep(time.Duration) {}

func (a *answers) Call(node, _ string, _ []byte, _ time.Duration) ([]byte, error) {
	a.asked = append(a.asked, node)
	if len(a.left) == 0 {
		return nil, a.none
	}
	x := a.left[0]
	if a.left = a.left[1:]; x == nil {
		return nil, host.ErrTimeout
	}
	return x.encode(), nil
}

// asking is a client that has a session, and these answers to come.
func asking(t *testing.T, left ...*reply) *Client {
	t.Helper()
	c, err := Dial(&answers{left: left, none: host.ErrNoService}, ClientConfig{Nodes: []string{"n1", "n2", "n3"}, Timeout: time.Second, Rounds: 2, Pause: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c.session = 1
	return c
}

// A write that one node may have begun is not undone because the next one refuses to repeat it.
func TestARefusalDoesNotUndoWhatWasBegun(t *testing.T) {
	for name, begun := range map[string]*reply{"a timeout": nil, "an unknown outcome": {status: unknown}} {
		if err := asking(t, begun, &reply{status: refused, text: "full"}).Put("k", "v"); !errors.Is(err, ErrUnknown) || errors.Is(err, ErrRefused) {
			t.Errorf("after %s: %v", name, err)
		}
	}
	for name, other := range map[string]*reply{"nothing": nil, "a follower": {status: notLeader}} {
		left := []*reply{{status: refused, text: "full"}}
		if other != nil {
			left = append([]*reply{other}, left...)
		}
		if err := asking(t, left...).Put("k", "v"); !errors.Is(err, ErrRefused) || errors.Is(err, ErrUnknown) {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// What a client may believe about a write that was not acknowledged.
func TestAWriteIsUnknownOnlyIfANodeMayHaveBegunIt(t *testing.T) {
	if err := asking(t).Put("k", "v"); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknown) {
		t.Errorf("nobody has the service: %v", err)
	}
	c := asking(t)
	c.h.(*answers).none = host.ErrNotSent
	if err := c.Put("k", "v"); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknown) {
		t.Errorf("no node can be reached, and nothing was sent: %v", err)
	}
	if err := asking(t, &reply{status: notLeader}).Put("k", "v"); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknown) {
		t.Errorf("nobody leads: %v", err)
	}
	if err := asking(t, nil).Put("k", "v"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an answer was lost: %v", err)
	}
	if err := asking(t, &reply{status: unknown}).Put("k", "v"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a leader was replaced: %v", err)
	}
	if _, _, err := asking(t, nil, &reply{status: unknown}).Get("k"); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknown) {
		t.Errorf("a read changes nothing: %v", err)
	}
	if err := asking(t, nil, &reply{status: notLeader, text: "n3"}, &reply{}).Put("k", "v"); err != nil {
		t.Errorf("the third node carried it out: %v", err)
	}
}

// A key that no message can hold is an error before anything is sent.
func TestAKeyThatIsTooLongIsAnError(t *testing.T) {
	c := asking(t)
	key := strings.Repeat("k", MaxKey+1)
	if err := c.Put(key, "v"); !errors.Is(err, ErrTooLong) {
		t.Errorf("a write: %v", err)
	}
	if _, _, err := c.Get(key); !errors.Is(err, ErrTooLong) {
		t.Errorf("a read: %v", err)
	}
	if err := c.Put(key[1:], "v"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("the longest key: %v", err)
	}
}

// A follower that knows the leader spares the client the others.
func TestAClientAsksTheLeaderThatItHearsOf(t *testing.T) {
	c := asking(t, &reply{status: notLeader, text: "n3"}, &reply{}, &reply{})
	for range 2 {
		if err := c.Put("k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.h.(*answers).asked; !slices.Equal(got, []string{"n1", "n3", "n3"}) {
		t.Errorf("it asks %q", got)
	}
}
