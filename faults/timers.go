package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// Regime determines when a timer may fire.
type Regime uint8

// The regimes.
const (
	// Idle: only when nothing else can happen, the earliest first. Time passes at no
	// other moment, so steps take no time.
	Idle Regime = iota
	// Free: at any moment, in the order of deadlines on its own host. The clocks of
	// different hosts are unrelated.
	Free
	// Skew: punctually on the clock of its host, and the clocks of different hosts
	// run within a ratio of each other.
	Skew
)

// A fault of the kind timeout is independent of the regime: within its budget it makes
// a timer fire although nothing is wrong.

// Timers is a check's assumption about time. The zero value is idle.
type Timers struct {
	Regime Regime
	// Num/Den, in lowest terms, is the ratio of Skew: the fastest clock runs at most
	// that many times as fast as the slowest.
	Num, Den int64
}

// ErrTimers is wrapped by every error of ParseTimers.
var ErrTimers = errors.New("faults: bad timers")

// maxRatio bounds numerator and denominator, so that scaled times do not overflow.
const maxRatio = 10000

// ParseTimers reads idle, free or skew(r), with r at least 1, such as 1.1 or 11/10. The
// empty string is idle.
func ParseTimers(s string) (Timers, error) {
	s = strings.TrimSpace(s)
	switch s {
	case "", "idle":
		return Timers{}, nil
	case "free":
		return Timers{Regime: Free}, nil
	}
	arg, ok := strings.CutPrefix(s, "skew(")
	if arg, ok = cutSuffixIf(ok, arg, ")"); !ok {
		return Timers{}, fmt.Errorf("%w: %q; known: idle, free and skew(r), such as skew(1.1)%s", ErrTimers, s,
			mistake.DidYouMean(s, []string{"idle", "free", "skew(1.1)"}))
	}
	num, den, ok := parseRatio(strings.TrimSpace(arg))
	switch {
	case !ok:
		return Timers{}, fmt.Errorf("%w: %q: the ratio of clocks is a number such as 1.1 or 11/10", ErrTimers, s)
	case num < den:
		return Timers{}, fmt.Errorf("%w: %q: the ratio of clocks is at least 1", ErrTimers, s)
	case num > maxRatio || den > maxRatio:
		return Timers{}, fmt.Errorf("%w: %q: the ratio is %d/%d; both numbers are at most %d", ErrTimers, s, num, den, maxRatio)
	}
	return Timers{Skew, num, den}, nil
}

func cutSuffixIf(ok bool, s, suffix string) (string, bool) {
	if !ok {
		return s, false
	}
	return strings.CutSuffix(s, suffix)
}

// parseRatio reads a decimal or a fraction, and reduces it to lowest terms.
func parseRatio(s string) (num, den int64, ok bool) {
	a, b, fraction := strings.Cut(s, "/")
	den = 1
	if !fraction {
		whole, digits, _ := strings.Cut(s, ".")
		if len(digits) > 9 || whole == "" {
			return 0, 0, false
		}
		a = whole + digits
		for range digits {
			den *= 10
		}
	} else if d, err := strconv.ParseUint(strings.TrimSpace(b), 10, 31); err != nil || d == 0 {
		return 0, 0, false
	} else {
		den = int64(d)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(a), 10, 62)
	if err != nil {
		return 0, 0, false
	}
	num = int64(n)
	g := gcd(num, den)
	return num / g, den / g, true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, 1)
}

// String returns the form that ParseTimers reads.
func (t Timers) String() string {
	switch t.Regime {
	case Free:
		return "free"
	case Skew:
		return "skew(" + ratioText(t.Num, t.Den) + ")"
	}
	return "idle"
}

// ratioText returns a decimal if there is an exact one, otherwise a fraction.
func ratioText(num, den int64) string {
	scale, digits := int64(1), 0
	for ; digits < 5; digits++ {
		if scale*num%den == 0 {
			break
		}
		scale *= 10
	}
	if scale*num%den != 0 {
		return fmt.Sprintf("%d/%d", num, den)
	}
	n := strconv.FormatInt(scale*num/den, 10)
	if digits == 0 {
		return n
	}
	return n[:len(n)-digits] + "." + n[len(n)-digits:]
}

// Says describes the regime's assumption in a sentence.
func (t Timers) Says() string {
	switch t.Regime {
	case Free:
		return "a timer may fire at any moment, in the order of deadlines on its own host"
	case Skew:
		return "timers are punctual, on clocks whose rates differ by at most a factor of " + ratioText(t.Num, t.Den)
	}
	return "a timer fires only when nothing else can happen"
}

// Validate checks the ratio.
func (t Timers) Validate() error {
	if t.Regime > Skew {
		return fmt.Errorf("%w: regime %d", ErrTimers, t.Regime)
	}
	if t.Regime == Skew && (t.Den < 1 || t.Num < t.Den || t.Num > maxRatio) {
		return fmt.Errorf("%w: the ratio %d/%d", ErrTimers, t.Num, t.Den)
	}
	return nil
}
