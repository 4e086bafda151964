package verbs

import (
	"errors"
	"testing"
)

func TestLifetimeRules(t *testing.T) {
	for _, c := range []struct {
		what string
		err  error
		kind error
		want string
	}{
		{"a protection domain", CheckPD(false), nil, ""},
		{"a deallocated one", CheckPD(true), ErrClosed, "verbs: closed: the protection domain"},
		{"deallocate an empty one", CheckDealloc(false, 0), nil, ""},
		{"deallocate twice", CheckDealloc(true, 0), ErrClosed, "verbs: closed"},
		{"deallocate one with members", CheckDealloc(false, 1), ErrBusy, "verbs: in use: 1 regions and QPs are left"},
		{"destroy an unused CQ", CheckDestroyCQ(false, 0), nil, ""},
		{"destroy a CQ twice", CheckDestroyCQ(true, 1), ErrClosed, "verbs: closed"},
		{"destroy a CQ in use", CheckDestroyCQ(false, 1), ErrBusy, "verbs: in use: 1 work queues use it"},
		{"destroy an unused channel", CheckDestroyChannel(false, 0), nil, ""},
		{"destroy a channel twice", CheckDestroyChannel(true, 0), ErrClosed, "verbs: closed"},
		{"destroy a channel in use", CheckDestroyChannel(false, 1), ErrBusy, "verbs: in use: 1 CQs report on it"},
		{"the shallowest CQ", CheckDepth(1, 8), nil, ""},
		{"the deepest CQ", CheckDepth(8, 8), nil, ""},
		{"a CQ of no entries", CheckDepth(0, 8), ErrInvalid, "verbs: invalid argument: depth is 0; it must be 1 to 8"},
		{"too deep a CQ", CheckDepth(9, 8), ErrInvalid, "verbs: invalid argument: depth is 9; it must be 1 to 8"},
		{"room for one", CheckRoom(make([]WC, 1)), nil, ""},
		{"room for none", CheckRoom(nil), ErrInvalid, "verbs: invalid argument: no room for completions"},
	} {
		got := ""
		if c.err != nil {
			got = c.err.Error()
		}
		if !errors.Is(c.err, c.kind) || got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
