package mutant

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A patch may name several classes, with or without spaces. (A mutant with `a,b` was never caught, because no class has that name.)
func TestWanted(t *testing.T) {
	for header, want := range map[string][]string{"": nil, "a": {"a"}, "a, b": {"a", "b"}, "a,b ,c": {"a", "b", "c"}} {
		if diff := cmp.Diff(want, (&Result{Wanted: header}).wanted()); diff != "" {
			t.Errorf("%q: %s", header, diff)
		}
	}
}
