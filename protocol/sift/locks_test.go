package sift

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
)

// Locks are compared with a set of blocks for each entry.
func TestLocksAgainstASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLocks(8)
		var held [][]wal.Update
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "unlock") {
				l.write(held[0], -1)
				held = held[1:]
				continue
			}
			u := []wal.Update{{Addr: rapid.IntRange(0, 40).Draw(t, "addr"), Data: make([]byte, rapid.IntRange(1, 20).Draw(t, "n"))}}
			l.write(u, 1)
			held = append(held, u)
		}
		addr, n := rapid.IntRange(0, 60).Draw(t, "addr"), rapid.IntRange(1, 20).Draw(t, "n")
		want := false
		for _, list := range held {
			for _, u := range list {
				for i := u.Addr; i < u.Addr+len(u.Data); i++ {
					for j := addr; j < addr+n; j++ {
						want = want || i/8 == j/8
					}
				}
			}
		}
		if got := l.writing(addr, n); got != want {
			t.Fatalf("%d bytes at %d locked: %v, want %v; held %v", n, addr, got, want, held)
		}
	})
}
