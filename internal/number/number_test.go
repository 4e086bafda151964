package number

import "testing"

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 runs", 1: "1 run", 999: "999 runs", 1000: "1,000 runs", 1234567: "1,234,567 runs"} {
		if got := Of(n, "run"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
