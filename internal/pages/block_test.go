package pages

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

func TestBlock(t *testing.T) {
	mapped, err := Map(100, false)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBlock(mapped)
	for range 2 {
		if err := b.Pin(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := b.Free(); !errors.Is(err, verbs.ErrBusy) || len(b.Bytes()) != 100 {
			t.Errorf("free with a pin: %v, %d bytes are left", err, len(b.Bytes()))
		}
		b.Unpin()
	}
	if err := b.Free(); err != nil || b.Bytes() != nil {
		t.Errorf("free: %v, %d bytes are left", err, len(b.Bytes()))
	}
	if b.Addr() != Addr(mapped) || b.Len() != 100 {
		t.Errorf("it was %d bytes at %#x, and says %d at %#x", 100, Addr(mapped), b.Len(), b.Addr())
	}
	for _, err := range []error{b.Free(), b.Pin()} {
		if !errors.Is(err, verbs.ErrClosed) || !errors.Is(err, host.ErrClosed) {
			t.Errorf("after Free: %v", err)
		}
	}
}
