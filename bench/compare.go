package bench

import (
	"cmp"
	"context"
	"net"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// rival is perftest, with the measurement of a spec.
type rival struct {
	ctx    context.Context
	dev    verbs.Device
	peer   *remote
	host   string // of the peer
	ask    request
	ours   []float64 // medians or rates of the rounds
	theirs []float64
	least  []float64 // the minima of perftest
}

// round lets perftest measure once.
func (v *rival) round() error {
	a, err := v.peer.ask(v.ask)
	if err != nil {
		return err
	}
	r, err := runPerftest(v.ctx, v.dev, v.ask, v.host, a.Port)
	if err != nil {
		return err
	}
	v.theirs = append(v.theirs, r.Median)
	v.least = append(v.least, r.Least)
	_, err = v.peer.ask(request{Do: doServed})
	return err
}

// compare summarizes the rounds. perMicrosecond is the rate of our ticks.
func (v *rival) compare(version string, perMicrosecond float64) *Comparison {
	c := &Comparison{Tool: v.ask.Tool, Version: version}
	our, their := perMicrosecond, perMicrosecond
	switch {
	case bandwidth(v.ask.Tool):
		our, their = 1, 1
	case !cycles:
		their = 1 // perftest printed microseconds
	}
	for i := range v.ours {
		c.Ours = append(c.Ours, v.ours[i]/our)
		c.Theirs = append(c.Theirs, v.theirs[i]/their)
	}
	c.Min = slices.Min(v.least) / their
	c.Median = Median(c.Theirs)
	r := RatioOf(c.Ours, c.Theirs)
	c.Ratio, c.Low, c.High, c.Confidence = r.Median, r.Low, r.High, r.Confidence
	return c
}

// Median returns the median of values, which must not be empty.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[n/2] + x[(n-1)/2]) / 2
}

// hostOf returns the host on which the peer at addr runs programs.
func hostOf(addr string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	host = cmp.Or(host, "localhost")
	return host, err
}
