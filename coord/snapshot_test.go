package coord_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/coord"
)

// anyStore returns a store after requests at random.
func anyStore(t *rapid.T) *coord.Store {
	var s coord.Store
	hosts := rapid.SampledFrom([]string{"a", "b", ""})
	keys := rapid.SampledFrom([]string{"k", "key", "l", "\x00\xff"})
	for range rapid.IntRange(0, 20).Draw(t, "requests") {
		host := hosts.Draw(t, "host")
		_, c := newClient(&s, host)
		session := coord.Session(rapid.Uint64Range(0, 4).Draw(t, "session"))
		key, value := keys.Draw(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "value")
		switch rapid.IntRange(0, 4).Draw(t, "op") {
		case 0:
			_ = c.Create(key, value, session)
		case 1:
			_, _ = c.Set(key, value, coord.AnyVersion)
		case 2:
			_ = c.Delete(key, coord.AnyVersion)
		case 3:
			_, _ = c.NewSession()
		case 4:
			_ = c.CloseSession(session)
		}
	}
	return &s
}

// A restored store has the same state, and continues in the same way: no session number is assigned twice.
func TestASnapshotIsTheWholeState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, other := anyStore(t), anyStore(t)
		b := s.AppendSnapshot([]byte("front"))[5:]
		if err := other.Restore(b); err != nil {
			t.Fatal(err)
		}
		if s.Hash() != other.Hash() || !bytes.Equal(b, other.AppendSnapshot(nil)) {
			t.Fatalf("%q restored is %q", b, other.AppendSnapshot(nil))
		}
		clear(b) // the store keeps nothing of it
		s.ExpireHost("a")
		other.ExpireHost("a")
		_, one := newClient(s, "b")
		_, two := newClient(other, "b")
		x, err := one.NewSession()
		y, err2 := two.NewSession()
		if x != y || err != nil || err2 != nil || s.Hash() != other.Hash() {
			t.Fatalf("sessions %d and %d, hashes %v and %v", x, y, s.Hash(), other.Hash())
		}
	})
}

// Whatever is no snapshot is refused, and the store is empty then.
func FuzzRestore(f *testing.F) {
	f.Add([]byte{})
	f.Add(new(coord.Store).AppendSnapshot(nil))
	var s coord.Store
	_, c := newClient(&s, "a")
	session, _ := c.NewSession()
	_, _ = c.NewSession()
	_ = c.Create("k", []byte("v"), session)
	_ = c.Create("l", nil, coord.NoSession)
	f.Add(s.AppendSnapshot(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s coord.Store
		err := s.Restore(b)
		switch {
		case err == nil && !bytes.Equal(s.AppendSnapshot(nil), b):
			t.Errorf("%q was accepted, and is written as %q", b, s.AppendSnapshot(nil))
		case err != nil && !errors.Is(err, coord.ErrSnapshot):
			t.Errorf("%v does not wrap ErrSnapshot", err)
		case err != nil && s.Hash() != new(coord.Store).Hash():
			t.Errorf("a store that refused %q is not empty", b)
		}
	})
}
