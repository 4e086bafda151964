package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// The error of a client shows whether the operation may have happened, and its status whether to try again.
func TestSiftErrorsHaveAStatus(t *testing.T) {
	for _, x := range []struct {
		err  error
		code int
		want string
	}{
		{fmt.Errorf("%w: broken", kv.ErrUnknown), cli.RanOut, "the operation may have been carried out"},
		{fmt.Errorf("%w: nobody", kv.ErrUnavailable), cli.RanOut, "no coordinator"},
		{kv.ErrFull, cli.RanOut, "the store is full"},
		{fmt.Errorf("lead: %w", sift.ErrLost), cli.Violated, "the memory is lost"},
		{fmt.Errorf("%w: term 9", sift.ErrExhausted), cli.RanOut, "numbers used up"},
	} {
		var out bytes.Buffer
		var status cli.Status
		if err := siftEnded(hinted(x.err), &out); !errors.As(err, &status) || int(status) != x.code || !strings.Contains(out.String(), x.want) {
			t.Errorf("%v: %v, and it says %q", x.err, err, out.String())
		}
	}
	for _, x := range []struct {
		err  error
		want string
	}{
		{kv.ErrTooLong, "the limits are --key and --value"},
		{sift.ErrConfig, "bad configuration"},
	} {
		if err := siftEnded(hinted(x.err), nil); !errors.Is(err, x.err) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v", x.err, err)
		}
	}
}

// A node reports its role in one line.
func TestRolesOfANode(t *testing.T) {
	for _, x := range []struct {
		s    kv.State
		want string
	}{
		{kv.State{}, "follows"},
		{kv.State{Term: 2, Live: []string{"m1", "m3"}, Failed: []string{"m2"}}, "leads in term 2: memory m1 m3; failed m2"},
		{kv.State{Term: 3, Serves: true, Live: []string{"m1", "m2", "m3"}}, "serves in term 3: memory m1 m2 m3"},
	} {
		if got := roleOf(x.s); got != x.want {
			t.Errorf("%+v: %q, want %q", x.s, got, x.want)
		}
	}
}

// A line that repeats is written now and then, others always.
func TestRepeatedLinesAreLeftOut(t *testing.T) {
	for _, x := range []struct {
		f    hostFlags
		want string
	}{
		{hostFlags{name: "n"}, "n: a\nn: a\nn: b\nn: a\n"},
		{hostFlags{name: "n", repeat: repeatEvery}, "n: a\nn: b\n"},
	} {
		var out bytes.Buffer
		logf := x.f.logf(&out)
		for _, line := range []string{"a", "a", "b", "a"} {
			logf("%s", line)
		}
		if out.String() != x.want {
			t.Errorf("%q, want %q", out.String(), x.want)
		}
	}
}
