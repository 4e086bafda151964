package model

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestHistoryRefusesBadUse(t *testing.T) {
	started := func(t *testing.T) (*History, OpID) {
		h := new(History)
		return h, must(h.Invoke(0, RegisterRead{}, 5))(t)
	}
	tests := map[string]struct {
		use  func(h *History, id OpID) error
		want error
	}{
		"return of an id never given out":  {func(h *History, id OpID) error { return h.Return(id+1, Done{}, 6) }, ErrNoSuchOp},
		"return of a negative id":          {func(h *History, id OpID) error { return h.Return(-1, Done{}, 6) }, ErrNoSuchOp},
		"unknown of an id never given out": {func(h *History, id OpID) error { return h.Unknown(id+1, 6) }, ErrNoSuchOp},
		"return twice": {func(h *History, id OpID) error {
			return errors.Join(h.Return(id, RegisterValue{}, 6), h.Return(id, RegisterValue{}, 7))
		}, ErrOpEnded},
		"return after unknown": {func(h *History, id OpID) error {
			return errors.Join(h.Unknown(id, 6), h.Return(id, RegisterValue{}, 7))
		}, ErrOpEnded},
		"return after the client crashed": {func(h *History, id OpID) error {
			return errors.Join(h.Crash(0, 6), h.Return(id, RegisterValue{}, 7))
		}, ErrOpEnded},
		"return before its call":           {func(h *History, id OpID) error { return h.Return(id, RegisterValue{}, 4) }, ErrStepOrder},
		"invoke before the last event":     {func(h *History, id OpID) error { _, err := h.Invoke(1, RegisterRead{}, 4); return err }, ErrStepOrder},
		"crash before the last event":      {func(h *History, id OpID) error { return h.Crash(0, 4) }, ErrStepOrder},
		"no input":                         {func(h *History, id OpID) error { _, err := h.Invoke(1, nil, 6); return err }, ErrBadOperation},
		"no output":                        {func(h *History, id OpID) error { return h.Return(id, nil, 6) }, ErrBadOperation},
		"NoReply as the output of a reply": {func(h *History, id OpID) error { return h.Return(id, NoReply{}, 6) }, ErrBadOperation},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, id := started(t)
			if err := tt.use(h, id); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestHistoryConvertsAllWaysToEnd(t *testing.T) {
	h := new(History)
	a := must(h.Invoke(0, RegisterWrite{1}, 10))(t)
	must(h.Invoke(1, RegisterWrite{2}, 11))(t)
	c := must(h.Invoke(0, RegisterWrite{3}, 11))(t)
	check(t, h.Return(a, Done{}, 12))
	check(t, h.Crash(1, 13))
	check(t, h.Unknown(c, 14))
	must(h.Invoke(2, RegisterRead{}, 15))(t)
	want := []porcupine.Operation{
		{ClientId: 0, Input: RegisterWrite{1}, Output: Done{}, Call: 1, Return: 4, Metadata: Span{10, 12}},
		{ClientId: 1, Input: RegisterWrite{2}, Output: NoReply{}, Call: 2, Return: Never, Metadata: Span{11, Never}},
		{ClientId: 0, Input: RegisterWrite{3}, Output: NoReply{}, Call: 3, Return: Never, Metadata: Span{11, Never}},
		{ClientId: 2, Input: RegisterRead{}, Output: NoReply{}, Call: 7, Return: Never, Metadata: Span{15, Never}},
	}
	if diff := cmp.Diff(want, h.Operations(), cmpopts.IgnoreUnexported(porcupine.Operation{})); diff != "" {
		t.Error(diff)
	}
	if h.Len() != 4 || h.Open() != 1 {
		t.Errorf("%d operations, %d open; want 4 and 1", h.Len(), h.Open())
	}
	h.Reset()
	if h.Len() != 0 || h.Open() != 0 {
		t.Error("not empty after Reset")
	}
	must(h.Invoke(0, RegisterRead{}, 0))(t) // steps start again
}

// must is for calls that cannot fail in the test at hand.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
