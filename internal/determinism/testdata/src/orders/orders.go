// Package orders is a protocol with loops over maps that nearly commute, and with variables that nearly are constants.
package orders

import (
	"hash/crc32"
	"iter"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
)

func Loops(_ host.Host, m map[int]int, lists map[int][]int, seq iter.Seq[int]) (sum, last, highest int) {
	for _, v := range m { // want "range over a map"
		sum += v
		break
	}
	inverse := map[int]int{}
	for k, v := range m { // want "range over a map"
		inverse[v] = k
	}
	for _, v := range m { // want "range over a map"
		p := &sum
		*p += v
		if sum > 3 {
			continue
		}
		highest = max(highest, v)
	}
	for range m { // want "range over a map"
		for x := range seq {
			sum += x
		}
	}
	for _, list := range lists { // want "range over a map"
		for last = range list {
		}
	}
	return sum, last, highest
}

func Generic[M ~map[int]int](m M, send func(int)) (keys []int) {
	for k := range m { // want "range over a map"
		send(k)
	}
	switch {
	case len(m) > 0:
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)
	}
	return keys
}

var (
	round   [2]int                              // want "package-level variable round: it is written to"
	grid    = [4]int{1}                         // want "package-level variable grid: it is written to"
	polyns  = crc32.MakeTable(crc32.Castagnoli) // want "package-level variable polyns: it is written to"
	unmoved = [4]int{1}
)

func Variables() int {
	for round[0] = range 3 {
	}
	p := &grid[1]
	*p = 2
	(*polyns)[0] = 1
	return unmoved[0]
}
