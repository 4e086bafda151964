package host_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

func TestRemoteError(t *testing.T) {
	err := fmt.Errorf("join: %w", &host.RemoteError{Host: "b", Service: "members", Reason: "epoch 3 is over"})
	var remote *host.RemoteError
	if !errors.As(err, &remote) || remote.Reason != "epoch 3 is over" {
		t.Errorf("%#v is no RemoteError", err)
	}
	if want := "join: b/members rejected the request: epoch 3 is over"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestAnswerPending(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer host.Answer
		want   bool
	}{
		{"nothing yet", host.Answer{}, true},
		{"body", host.Answer{Body: []byte("x")}, false},
		{"empty body", host.Answer{Body: []byte{}}, false},
		{"error", host.Answer{Err: host.ErrTimeout}, false},
	} {
		if got := tt.answer.Pending(); got != tt.want {
			t.Errorf("%s: Pending is %v", tt.name, got)
		}
	}
}
