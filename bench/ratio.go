package bench

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// Ratio compares two series that were measured alternately: the median of the ratios of
// neighbouring rounds. With the probability Confidence the ratio is in [Low, High]. With too
// few rounds there is no such interval: then all three are 0.
type Ratio struct {
	Median     float64 `json:"median"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// RatioOf compares a with b, round by round.
func RatioOf(a, b []float64) Ratio {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	r := Ratio{Median: Median(ratios)}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(ratios, &benchmath.DefaultThresholds), 0.95)
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		r.Low, r.High, r.Confidence = s.Lo, s.Hi, s.Confidence
	}
	return r
}
