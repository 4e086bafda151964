package arcadia

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Inspect describes a copy in each state of its life, and does not change it.
func TestInspect(t *testing.T) {
	h := newF()
	_, _ = h.OpenPMEM("log", ringAt+160)
	inspect := func(what string, want Summary) {
		t.Helper()
		m := h.Memory("log")
		before := string(m.Image())
		got, err := Inspect(Local{m}, "log", ringAt+160)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if want.Size = 160; !cmp.Equal(*got, want) || string(m.Image()) != before {
			t.Errorf("%s: %+v, want %+v; changed %v", what, *got, want, string(m.Image()) != before)
		}
	}
	inspect("memory of zeros", Summary{Empty: true})
	l, m := h.open(t, 160)
	inspect("an empty log", Summary{Superlines: 2, Epoch: 1, Since: 1, First: 1})
	a, b := put(t, l, "11111111"), put(t, l, "22222222")
	ok(t, b.Force(1))
	inspect("two records", Summary{Superlines: 2, Epoch: 1, Since: 1, First: 1, Last: 2, Bytes: 64})
	ok(t, l.Cleanup(b))
	inspect("the second is cleaned up", Summary{Superlines: 2, Epoch: 1, Since: 1, First: 1, Last: 2, CleanedUp: 1, Bytes: 64})
	r, err := l.Reserve(8)
	ok(t, err)
	inspect("the third is reserved", Summary{Superlines: 2, Epoch: 1, Since: 1, First: 1, Last: 2, CleanedUp: 1, Bytes: 64, Remains: true})
	ok(t, r.Complete())
	m.Flip(8 * r.payload())
	inspect("the third is damaged", Summary{Superlines: 2, Epoch: 1, Since: 1, First: 1, Last: 2, CleanedUp: 1, Bytes: 64, Remains: true})
	m.Flip(8 * r.payload())
	ok(t, r.Force(1))
	_, _ = h.open(t, 160)
	inspect("opened again", Summary{Superlines: 2, Epoch: 2, Since: 4, First: 1, Last: 3, CleanedUp: 1, Bytes: 96})
	m.Flip(8 * r.payload())
	inspect("damaged after the recovery", Summary{Superlines: 2, Epoch: 2, Since: 4, First: 1, Last: 2, CleanedUp: 1, Bytes: 64, Short: true, Remains: true})
	m.Flip(8 * r.payload())
	m.Poison(a.payload())
	inspect("the first is unreadable", Summary{Superlines: 2, Epoch: 2, Since: 4, First: 1, Short: true, Remains: true})
	m.Poison(0)
	if got, err := Inspect(Local{m}, "log", ringAt+160); err != nil || got.Superlines != 1 {
		t.Errorf("one superline: %+v, %v", got, err)
	}
	m.Poison(superSize)
	if _, err := Inspect(Local{m}, "log", ringAt+160); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no superline: %v", err)
	}
	for what, want := range map[string]error{"name": ErrForeign, "size": ErrForeign, "zeros": ErrForeign} { //lint:ordered each is checked
		h := newF()
		h.open(t, 160)
		name, size := "log", ringAt+160
		switch what {
		case "name":
			name = "other"
		case "size":
			size += 8
		case "zeros":
			h.Memory("log").Set(0, make([]byte, ringAt))
			h.Memory("log").Set(200, []byte(strings.Repeat("x", 8)))
		}
		if _, err := Inspect(Local{h.Memory("log")}, name, size); !errors.Is(err, want) {
			t.Errorf("another %s: %v", what, err)
		}
	}
}
