// Package perftest reads what the tools of perftest (ib_write_lat and others) print.
package perftest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Err is wrapped by all errors about perftest.
var Err = errors.New("bench: perftest")

// Limits of a measurement: bytes of a message, and iterations. Parse refuses larger numbers.
const (
	MaxSize  = 8 << 20
	MaxIters = 10_000_000
)

// LastLines returns the end of a program's output, which has the reason of a failure.
func LastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// Report is the line of numbers of a tool. The numbers of a latency tool are in the requested
// unit. Other tools have only a median, in requests per second.
type Report struct {
	Size, Iters          int
	Least, Median, Worst float64
}

// Want has the values that a report must have.
type Want struct {
	Size  int // in bytes; 0: any
	Iters int
	Rate  bool // the report is of a rate, not of a latency
}

// Parse finds the line of numbers below its header and checks it. Its error wraps [Err].
func Parse(text string, want Want) (Report, error) {
	var head []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && f[0] == "#bytes":
			head = f
		case head != nil && len(f) > 0 && f[0] != "" && f[0][0] != '-':
			r, err := parseLine(head, f, want.Rate)
			if err == nil && (want.Size != 0 && r.Size != want.Size || r.Iters != want.Iters) {
				err = fmt.Errorf("perftest reports %d bytes and %d iterations instead of %d and %d", r.Size, r.Iters, want.Size, want.Iters)
			}
			if err != nil {
				return r, fmt.Errorf("%w: %q: %w", Err, strings.TrimSpace(line), err)
			}
			return r, nil
		}
	}
	return Report{}, fmt.Errorf("%w: no numbers in the output: %s", Err, LastLines(text))
}

// parseLine reads the columns by their headers. The headers always name the unit [usec],
// whatever it is.
func parseLine(head, f []string, rate bool) (r Report, err error) {
	head = slices.DeleteFunc(head, func(h string) bool { return h == "BW" }) // of "BW peak[MB/sec]"
	column := func(name string) float64 {
		for i, h := range head {
			if before, _, _ := strings.Cut(h, "["); before != name || i >= len(f) {
				continue
			}
			v, e := strconv.ParseFloat(f[i], 64)
			if e == nil && (math.IsNaN(v) || math.IsInf(v, 0) || v <= 0) {
				e = fmt.Errorf("%s is %s", name, f[i])
			}
			err = errors.Join(err, e)
			return v
		}
		err = errors.Join(err, fmt.Errorf("there is no %s", name))
		return 0
	}
	size, iters := column("#bytes"), column("#iterations")
	if rate {
		const million = 1e6
		r.Median = million * column("MsgRate")
		r.Least, r.Worst = r.Median, r.Median
	} else {
		r.Least, r.Median, r.Worst = column("t_min"), column("t_typical"), column("t_max")
	}
	switch {
	case err != nil:
	case size > MaxSize || iters > MaxIters || size != math.Trunc(size) || iters != math.Trunc(iters):
		err = fmt.Errorf("%v bytes and %v iterations", size, iters)
	case r.Least > r.Median || r.Median > r.Worst:
		err = errors.New("the median is not between the minimum and the maximum")
	}
	r.Size, r.Iters = int(size), int(iters)
	return r, err
}
