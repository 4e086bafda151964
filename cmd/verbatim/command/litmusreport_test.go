package command

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// An undecided outcome is neither right nor wrong, and its status shows the reason.
func TestLitmusVerdicts(t *testing.T) {
	const yes, no, unknown = litmus.Reachable, litmus.Unreachable, litmus.Undecided
	for _, x := range []struct {
		expected, got litmus.Got
		reason        error
		verdict       string
		code          int
	}{
		{yes, yes, nil, "ok", cli.OK},
		{yes, no, nil, "wrong", cli.Violated},
		{no, yes, nil, "wrong", cli.Violated},
		{unknown, yes, nil, "unasked", cli.OK},
		{unknown, unknown, errors.New("a limit"), "undecided", cli.RanOut},
		{yes, unknown, litmus.ErrUnsupported, "unsupported", cli.RanOut},
		{yes, unknown, litmus.ErrStuck, "error", cli.Bad},
		{no, unknown, litmus.ErrRefused, "error", cli.Bad},
	} {
		verdict, code := litmusVerdict(&litmus.Result{Reason: x.reason}, &litmus.Row{Expected: x.expected, Got: x.got})
		if verdict != x.verdict || code != x.code {
			t.Errorf("expected %s, got %s, %v: %s with status %d", x.expected, x.got, x.reason, verdict, code)
		}
	}
}
