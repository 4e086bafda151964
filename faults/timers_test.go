package faults

import (
	"errors"
	"strings"
	"testing"
)

func TestParseTimers(t *testing.T) {
	for text, want := range map[string]string{
		"": "idle", "idle": "idle", " free ": "free", "skew(1)": "skew(1)", "skew(1.10)": "skew(1.1)", "skew( 22/20 )": "skew(1.1)",
		"skew(4/3)": "skew(4/3)", "skew(10000)": "skew(10000)",
	} {
		got, err := ParseTimers(text)
		if err != nil || got.String() != want || got.Validate() != nil {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
}

// An unknown regime is refused with a list of the known ones; nothing is guessed.
func TestBadTimersSayWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{
		"fre":             "did you mean free?",
		"Idle":            "did you mean idle?",
		"skew":            "skew(r), such as skew(1.1)",
		"skew(1.1":        "skew(r), such as skew(1.1)",
		"skew()":          "is a number such as 1.1 or 11/10",
		"skew(1,1)":       "is a number such as 1.1 or 11/10",
		"skew(-2)":        "is a number such as 1.1 or 11/10",
		"skew(3/0)":       "is a number such as 1.1 or 11/10",
		"skew(0.9)":       "at least 1",
		"skew(1.0000001)": "at most 10000",
		"skew(99999)":     "at most 10000",
	} {
		got, err := ParseTimers(text)
		if !errors.Is(err, ErrTimers) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
}

func FuzzParseTimers(f *testing.F) {
	for _, s := range []string{"", "idle", "free", "skew(1.1)", "skew(11/10)", "skew(1/0)", "skew(0.5)", "skew(1.000000001)", "skew(9223372036854775807/3)", "skew(.)", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTimers(s)
		if err != nil {
			if !errors.Is(err, ErrTimers) {
				t.Fatalf("%q: another error: %v", s, err)
			}
			return
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("the parser lets pass what Validate does not: %v", err)
		}
		if again, err := ParseTimers(got.String()); err != nil || again != got {
			t.Fatalf("%q reads back as %v, %v", got, again, err)
		}
	})
}
