package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes as a flag, such as 4096, 64KiB or 1MiB.
type Size int

var units = []struct {
	suffix string
	bytes  int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// Set implements pflag.Value.
func (s *Size) Set(text string) error {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > math.MaxInt/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return errors.New("want a number of bytes, such as 4096, 64KiB, 1MiB or 1GiB")
}

func (s *Size) String() string {
	for _, u := range units {
		if *s != 0 && int(*s)%u.bytes == 0 {
			return strconv.Itoa(int(*s)/u.bytes) + u.suffix
		}
	}
	return "0"
}

// Type implements pflag.Value.
func (s *Size) Type() string { return "size" }
