package order_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs/sim/order"
)

// A load reads a word that it covers at one moment, and the rest cell by cell.
func TestLook(t *testing.T) {
	for _, x := range []struct{ bytes, off, end, next int }{
		{1, 8, 16, 16}, {1, 8, 24, 16}, {1, 8, 15, 9}, {1, 9, 16, 10}, {4, 8, 16, 16}, {4, 9, 24, 12}, {8, 9, 24, 16}, {64, 8, 128, 64}, {64, 8, 20, 20},
	} {
		c := order.Cells{Bytes: x.bytes}
		if got := c.Look(x.off, x.end); got != x.next {
			t.Errorf("cells of %d bytes: a load of [%d,%d) finds bytes to %d at one moment, want %d", x.bytes, x.off, x.end, got, x.next)
		}
		if lo, hi := c.Around(x.off, x.next-x.off); lo > x.off || hi < x.next || c.Look(lo, hi) != hi {
			t.Errorf("cells of %d bytes: around [%d,%d) is [%d,%d)", x.bytes, x.off, x.next, lo, hi)
		}
	}
}
