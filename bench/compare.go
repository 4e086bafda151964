package bench

import (
	"context"
	"math"
	"net"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// rival is perftest, measuring what a spec does.
type rival struct {
	ctx    context.Context
	dev    verbs.Device
	peer   *remote
	host   string // of the peer
	ask    request
	ours   []float64 // medians of the rounds
	theirs []float64
	least  []float64 // that perftest saw
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
	v.theirs = append(v.theirs, r.p50)
	v.least = append(v.least, r.least)
	_, err = v.peer.ask(request{Do: doServed})
	return err
}

// compare sums the rounds up. perMicrosecond is the rate of our ticks.
func (v *rival) compare(version string, perMicrosecond float64) *Comparison {
	c := &Comparison{Tool: v.ask.Tool, Version: version}
	their := perMicrosecond
	if !cycles {
		their = 1 // it printed microseconds
	}
	ratios := make([]float64, len(v.ours))
	for i := range v.ours {
		c.Ours = append(c.Ours, v.ours[i]/perMicrosecond)
		c.Theirs = append(c.Theirs, v.theirs[i]/their)
		ratios[i] = c.Ours[i] / c.Theirs[i]
	}
	c.Min = slices.Min(v.least) / their
	c.P50 = median(c.Theirs)
	c.Ratio = median(ratios)
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(ratios, &benchmath.DefaultThresholds), 0.95)
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		c.Low, c.High, c.Confidence = s.Lo, s.Hi, s.Confidence
	}
	return c
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[n/2] + x[(n-1)/2]) / 2
}

// hostOf is where the programs of the peer at addr are.
func hostOf(addr string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if host == "" {
		host = "localhost"
	}
	return host, err
}
