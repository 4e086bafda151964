package order_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs/sim/order"
	"pgregory.net/rapid"
)

func TestCells(t *testing.T) {
	c := order.Cells{Bytes: 8}
	for _, x := range []struct{ off, n, end, cut int }{{0, 8, 8, 8}, {3, 5, 8, 5}, {7, 1, 8, 1}, {8, 8, 16, 8}} {
		if end, cut := c.End(x.off), c.Cut(x.off, 0, 64); end != x.end || cut != x.cut {
			t.Errorf("at %d: end %d and cut %d, want %d and %d", x.off, end, cut, x.end, x.cut)
		}
		if !c.One(x.off, x.n) || c.One(x.off, x.n+1) {
			t.Errorf("[%d,%d) must be in one cell, and a byte more not", x.off, x.off+x.n)
		}
	}
	if got := c.Moment(3, 20); got != 8 {
		t.Errorf("a look at [3,20) finds bytes to %d at one moment, want 8", got)
	}
	if got := (order.Cells{Bytes: 8, Pieces: 2}).Moment(3, 20); got != 20 {
		t.Errorf("where messages tear into pieces a look at [3,20) finds bytes to %d at one moment, want 20", got)
	}
}

// A message is cut at cells, or into no more than the maximum number of pieces.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := order.Cells{Bytes: 1 << rapid.IntRange(0, 6).Draw(t, "cell"), Pieces: rapid.IntRange(0, 4).Draw(t, "pieces")}
		off, length := rapid.IntRange(0, 200).Draw(t, "offset"), rapid.IntRange(1, 300).Draw(t, "length")
		pieces := 0
		for done := 0; done < length; pieces++ {
			n := c.Cut(off+done, done, length)
			if n <= 0 {
				t.Fatalf("a piece of %d bytes", n)
			}
			n = min(n, length-done)
			if end := off + done + n; done+n < length && end != c.Begin(end) {
				t.Fatalf("the piece [%d,%d) ends within a cell", off+done, end)
			}
			if c.Pieces == 0 && c.End(off+done) < off+done+n {
				t.Fatalf("[%d,%d) is one piece and not in one cell", off+done, off+done+n)
			}
			done += n
		}
		cells := (c.End(off+length-1) - c.Begin(off)) / c.Bytes
		if c.Bounds(off, length) != (c.Pieces > 0 && cells > c.Pieces) {
			t.Fatalf("a message in %d cells: bounded %v", cells, c.Bounds(off, length))
		}
		if want := cells; c.Bounds(off, length) && pieces > c.Pieces || !c.Bounds(off, length) && pieces != want {
			t.Fatalf("%d pieces of a message in %d cells", pieces, cells)
		}
	})
}

func TestBlock(t *testing.T) {
	if order.Block(127) != order.Block(0) || order.Block(128) == order.Block(127) {
		t.Error("a block has 128 bytes, and is aligned")
	}
}
