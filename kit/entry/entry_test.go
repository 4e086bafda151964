package entry_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/entry"
)

// fate is the fate of a call.
type fate int

const (
	answered fate = iota
	lost          // carried out, but the answer is lost
	dropped       // not carried out
)

// line is a host whose calls to a controller have scripted fates.
type line struct {
	host.Host
	name  string
	store *coord.Store
	fates []fate // of the next calls; later ones are answered
}

func (l *line) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	now := answered
	if len(l.fates) > 0 {
		now, l.fates = l.fates[0], l.fates[1:]
	}
	if now == dropped {
		return nil, host.ErrTimeout
	}
	resp := l.store.Apply(l.name, req)
	if now == lost {
		return nil, host.ErrTimeout
	}
	return resp, nil
}

func newLine(store *coord.Store, name string) (*line, coord.Client) {
	l := &line{name: name, store: store}
	return l, coord.NewClient(l, "coord", "coord")
}

func Example() {
	_, c := newLine(new(coord.Store), "a")
	mine, _ := entry.Create(c, "epoch", []byte("1 of a"))
	theirs, _ := entry.Load(c, "epoch")
	fmt.Println(theirs.Set([]byte("2 of b")))
	fmt.Println(errors.Is(mine.Set([]byte("2 of a")), entry.ErrTaken))
	// Output:
	// <nil>
	// true
}

// Whatever the fate of its calls: a Set that succeeded is stored, ErrTaken is never
// wrong, and no host's change is overwritten unseen.
func TestSetWithLostAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var store coord.Store
		lines, entries := make([]*line, 2), make([]*entry.Entry, 2)
		var clients [2]coord.Client
		for i := range lines {
			lines[i], clients[i] = newLine(&store, string(rune('a'+i)))
		}
		if _, err := entry.Create(clients[0], "k", []byte("first")); err != nil {
			t.Fatal(err)
		}
		by := -1 // who changed it last, according to the store
		for i := range lines {
			entries[i], _ = entry.Load(clients[i], "k")
		}
		fresh := [2]bool{true, true} // nobody else has changed it since this host read it
		for n := range rapid.IntRange(1, 12).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "host")
			l := lines[i]
			l.fates = rapid.SliceOfN(rapid.SampledFrom([]fate{answered, lost, dropped}), 0, 3).Draw(t, "fates")
			before, _, _ := clients[1-i].Get("k")
			value := fmt.Appendf(nil, "%d of %s", n, l.name)
			err := entries[i].Set(value)
			l.fates = nil
			now, _, _ := clients[i].Get("k")
			changed := !bytes.Equal(before, now)
			if changed && (!fresh[i] || !bytes.Equal(now, value)) {
				t.Fatalf("host %s, which last saw it changed by %d, has made it %q: %v", l.name, by, now, err)
			}
			switch {
			case err == nil && (!bytes.Equal(now, value) || entries[i].InDoubt()):
				t.Fatalf("it is %q after a Set of %q that succeeded", now, value)
			case errors.Is(err, entry.ErrTaken) && fresh[i]:
				t.Fatalf("%v, and nobody else has changed it", err)
			case err != nil && !errors.Is(err, entry.ErrTaken) && !errors.Is(err, coord.ErrUnavailable):
				t.Fatal(err)
			}
			if changed {
				by, fresh[1-i] = i, false
			}
			if !fresh[i] && rapid.Bool().Draw(t, "again") {
				if entries[i], err = entry.Load(clients[i], "k"); err != nil {
					t.Fatal(err)
				}
				fresh[i] = true
			}
		}
	})
}

// A Set whose answer was lost is resolved before the next change, whatever its fate.
func TestConfirm(t *testing.T) {
	for name, x := range map[string]struct {
		fate fate
		then func(c coord.Client) error // what another host does
		want error
		has  string
	}{
		"carried out":           {lost, nil, nil, "mine"},
		"not carried out":       {dropped, nil, nil, "old"},
		"another was faster":    {dropped, func(c coord.Client) error { return entry.Put(c, "k", []byte("theirs")) }, entry.ErrTaken, ""},
		"another came after it": {lost, func(c coord.Client) error { return entry.Put(c, "k", []byte("theirs")) }, entry.ErrTaken, ""},
		"another deleted it":    {lost, func(c coord.Client) error { return c.Delete("k", coord.AnyVersion) }, entry.ErrTaken, ""},
	} {
		var store coord.Store
		l, c := newLine(&store, "a")
		_, other := newLine(&store, "b")
		e, err := entry.Create(c, "k", []byte("old"))
		if err != nil {
			t.Fatal(err)
		}
		l.fates = []fate{x.fate}
		if err := e.Set([]byte("mine")); !errors.Is(err, coord.ErrUnavailable) || !e.InDoubt() {
			t.Fatalf("%s: %v", name, err)
		}
		if x.then != nil {
			if err := x.then(other); err != nil {
				t.Fatal(err)
			}
		}
		l.fates = []fate{dropped}
		if err := e.Confirm(); !errors.Is(err, coord.ErrUnavailable) || !e.InDoubt() {
			t.Errorf("%s, without an answer: %v", name, err)
		}
		if err := e.Confirm(); !errors.Is(err, x.want) || err == nil && string(e.Value) != x.has {
			t.Errorf("%s: %v, and the value is %q", name, err, e.Value)
		}
		if x.want == nil {
			if err := e.Set([]byte("next")); err != nil {
				t.Errorf("%s: the next change: %v", name, err)
			}
		}
	}
}

// A deleted key stays deleted, and another host's new key stays.
func TestDelete(t *testing.T) {
	var store coord.Store
	l, c := newLine(&store, "a")
	e, _ := entry.Create(c, "k", nil)
	l.fates = []fate{lost}
	if err := e.Delete(); !errors.Is(err, coord.ErrUnavailable) {
		t.Fatal(err)
	}
	if err := e.Delete(); err != nil {
		t.Errorf("again: %v", err)
	}
	e, _ = entry.Create(c, "k", nil)
	if err := entry.Put(c, "k", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := e.Delete(); !errors.Is(err, entry.ErrTaken) {
		t.Errorf("what another has changed: %v", err)
	}
}

// No counter value is returned twice, for any callers and any lost answers.
func TestNumbersAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var store coord.Store
		var seen []uint64
		for range rapid.IntRange(1, 20).Draw(t, "calls") {
			l, c := newLine(&store, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "host"))
			l.fates = rapid.SliceOfN(rapid.SampledFrom([]fate{answered, lost, dropped}), 0, 2).Draw(t, "fates")
			n, err := entry.Next(c, "numbers")
			if err == nil && (n == 0 || slices.Contains(seen, n)) {
				t.Fatalf("%d after %v", n, seen)
			}
			if err == nil {
				seen = append(seen, n)
			}
		}
	})
}

func TestCounterOfNonsense(t *testing.T) {
	_, c := newLine(new(coord.Store), "a")
	if err := entry.Put(c, "n", []byte("many")); err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Next(c, "n"); !errors.Is(err, entry.ErrMalformed) {
		t.Error(err)
	}
}

// One host holds a claim until it releases it or its session expires.
func TestClaim(t *testing.T) {
	var store coord.Store
	_, a := newLine(&store, "a")
	lb, b := newLine(&store, "b")
	held, err := entry.Take(a, "leader", []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Take(b, "leader", nil); !errors.Is(err, entry.ErrHeld) || !errors.Is(err, coord.ErrExists) {
		t.Errorf("a second host: %v", err)
	}
	if n := len(store.Sessions(nil)); n != 1 {
		t.Errorf("%d sessions, and one claim", n)
	}
	if err := held.Check(); err != nil {
		t.Error(err)
	}
	store.ExpireHost("a")
	if err := held.Check(); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("after its session: %v", err)
	}
	again, err := entry.Take(b, "leader", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := entry.Take(a, "leader", nil); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
	lb.fates = []fate{dropped}
	if _, err := entry.Take(b, "other", nil); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("without an answer: %v", err)
	}
}
