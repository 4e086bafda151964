package ycsb

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Theta is YCSB's constant. (Package math/rand/v2 has a Zipf, for constants above 1.)
const Theta = 0.99

// zipfian draws ranks from 0 on, rank k with a probability proportional to
// 1/(k+1)^Theta. The weight of a rank does not depend on the number of ranks, so the
// number can grow.
type zipfian struct {
	sums []float64 // of the weights up to a rank
}

func (z *zipfian) n() int { return len(z.sums) }

// grow sets the number of ranks to n.
func (z *zipfian) grow(n int) {
	sum := 0.0
	if len(z.sums) > 0 {
		sum = z.sums[len(z.sums)-1]
	}
	for k := len(z.sums); k < n; k++ {
		sum += math.Pow(float64(k+1), -Theta)
		z.sums = append(z.sums, sum)
	}
}

func (z *zipfian) draw(r *rand.Rand) int {
	at := r.Float64() * z.sums[len(z.sums)-1]
	return min(sort.Search(len(z.sums), func(k int) bool { return z.sums[k] > at }), len(z.sums)-1)
}
