package faults

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzParseBudget(f *testing.F) {
	for _, s := range []string{
		"", "none", "crash(app)<=1, crash(peer*)<=1, partition(app,peer1)<=1", "crsh(a)<=1",
		"crash(a)<=1,\n", "cut(a,b)≤1", "\xff", "break(*/*,rack-1/*)<=1000", manyRules(MaxRules + 1),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBudget(s)
		if err != nil {
			checkError(t, s, err)
			return
		}
		if err := b.validateRules(); err != nil {
			t.Fatalf("the parser lets pass what Validate does not: %v", err)
		}
		again, err := ParseBudget(b.String())
		if diff := cmp.Diff(b, again); err != nil || diff != "" {
			t.Fatalf("%q does not read back: %v\n%s", b, err, diff)
		}
	})
}

func checkError(t *testing.T, s string, err error) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) || e.Input != s || e.Expected == "" || e.Found == "" {
		t.Fatalf("incomplete error %#v", err)
	}
	if e.Column < 1 || e.Column > utf8.RuneCountInString(s)+1 {
		t.Fatalf("column %d is outside the input", e.Column)
	}
	if !utf8.ValidString(e.Error()) {
		t.Fatalf("message is not UTF-8: %q", e)
	}
	checkCaret(t, e)
}
