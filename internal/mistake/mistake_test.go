package mistake_test

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

func TestNearest(t *testing.T) {
	long := strings.Repeat("a", 64)
	words := []string{"crash", "partition", "ncl", "ncl/three-writes", "P", "app1", "app2", long}
	tests := []struct{ doc, s, want string }{
		{"a letter too many", "crassh", "crash"},
		{"a letter too few", "partitin", "partition"},
		{"another letter", "ncx", "ncl"},
		{"case does not count", "CRASH", "crash"},
		{"the first of equals", "app", "app1"},
		{"a third may differ", "cxaxh", "crash"},
		{"more than a third may not", "cxxxh", ""},
		{"something must agree", "Q", ""},
		{"a pattern is near to what almost matches", "*/tree-*", "ncl/three-writes"},
		{"a pattern that matches is nearest", "par*", "partition"},
		{"nothing is near to nothing", "", ""},
		{"only the first 64 bytes count", long + strings.Repeat("b", 1<<20), long},
	}
	for _, tt := range tests {
		if got := mistake.Nearest(tt.s, words); got != tt.want {
			t.Errorf("%s: nearest to %.20q is %q, want %q", tt.doc, tt.s, got, tt.want)
		}
	}
	if got := mistake.DidYouMean("crassh", words); got != "; did you mean crash?" {
		t.Errorf("got %q", got)
	}
	if got := mistake.DidYouMean("explode", words); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 100) + "!" + strings.Repeat("b", 100)
	tests := []struct {
		doc, line string
		column    int
		want      string
	}{
		{"a short line", "crash(a)", 6, "\n  crash(a)\n       ^"},
		{"one past the end", "ab", 3, "\n  ab\n    ^"},
		{"no column is out of range", "ab", 99, "\n  ab\n    ^"},
		{"nor below it", "ab", -1, "\n  ab\n  ^"},
		{"a blank line", " \t", 2, ""},
		{"every character takes one column", "ä\t\x00e\u0301!", 6, "\n  ä ?e?!\n       ^"},
		{"a long line is cut on both sides", long, 101,
			"\n  ..." + strings.Repeat("a", 60) + "!" + strings.Repeat("b", 59) + "...\n  " + strings.Repeat(" ", 63) + "^"},
	}
	for _, tt := range tests {
		if got := mistake.Excerpt(tt.line, tt.column); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.doc, got, tt.want)
		}
	}
}
