// Package number writes numbers for people.
package number

import "strconv"

// Commas writes n with a comma after every third digit.
func Commas[T int | uint64](n T) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Of returns a count of things.
func Of[T int | uint64](n T, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Commas(n) + " " + thing + "s"
}
