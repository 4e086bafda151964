package sift

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestAWordIsReadAsMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node, term, at := rapid.Uint16().Draw(t, "node"), rapid.Uint16().Draw(t, "term"), rapid.Uint32().Draw(t, "timestamp")
		if w := MakeWord(node, term, at); w.Node() != node || w.Term() != term || w.Timestamp() != at || !w.by(node, term) {
			t.Fatalf("%d, %d, %d: %v", node, term, at, w)
		}
	})
	if fmt.Sprint(MakeWord(1, 2, 3), outsider) != "1.2.3 outsider" {
		t.Error(MakeWord(1, 2, 3), outsider)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add(request{adminDoor, 1, 0, 7}.encode())
	f.Add(request{memoryDoor, 2, 3, 7}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRequest(b)
		if err == nil && !bytes.Equal(r.encode(), b) {
			t.Fatalf("%x is read as %+v, which is %x", b, r, r.encode())
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}
