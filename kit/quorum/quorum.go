// Package quorum decides when enough members of a group have done something. It is pure
// arithmetic: no hosts, no cards, no clock.
//
// A group has n members. A rule that lets any need of them decide is safe if any two such
// sets have a member in common, or if a set that writes and one that reads do: see
// [Intersect]. [Majority] is the smallest need of the first kind.
package quorum

import "fmt"

// Majority is the smallest number of n members such that any two sets of so many have a
// member in common. It panics if n is not positive: no group has nobody.
func Majority(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("quorum: a majority of %d members", n))
	}
	return n/2 + 1
}

// Intersect reports whether any a and any b of n members have one in common.
func Intersect(n, a, b int) bool { return a+b > n }

// Tolerates is how many of n members may be lost while need of them are left.
func Tolerates(n, need int) int { return n - need }

// Committed is the largest position that at least need members have reached; 0 if fewer
// have reached any. reached has the position of each member. It allocates nothing.
func Committed(need int, reached []uint64) uint64 {
	if need <= 0 {
		panic("quorum: nobody is needed")
	}
	var best uint64
	for _, p := range reached {
		if p > best && Count(reached, func(q uint64) bool { return q >= p }) >= need {
			best = p
		}
	}
	return best
}

// Count counts the members for which is holds.
func Count[M any](members []M, is func(M) bool) int {
	n := 0
	for _, m := range members {
		if is(m) {
			n++
		}
	}
	return n
}

// Vote is the answer of one member.
type Vote uint8

// A member has not answered yet, has agreed, or has not: it refused, or has failed.
const (
	Pending Vote = iota
	Yes
	No
)

// Result is what votes amount to.
type Result uint8

// The vote is open, won, or lost whatever those that are pending say.
const (
	Open Result = iota
	Won
	Lost
)

var resultNames = [...]string{"open", "won", "lost"}

func (r Result) String() string { return resultNames[r] }

// Decide says what votes amount to if need of them must be Yes.
func Decide(need int, votes []Vote) Result {
	yes := Count(votes, func(v Vote) bool { return v == Yes })
	pending := Count(votes, func(v Vote) bool { return v == Pending })
	switch {
	case yes >= need:
		return Won
	case yes+pending < need:
		return Lost
	}
	return Open
}
