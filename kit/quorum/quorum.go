// Package quorum decides when enough members of a group have done something. It is pure
// arithmetic: no hosts, no cards, no clock.
//
// A group has n members, and a quorum is any set of a given size. A rule is safe if any
// two quorums share a member, or if every write quorum shares a member with every read
// quorum: see [Intersect]. [Majority] is the smallest size for the first kind of rule.
package quorum

import "fmt"

// Majority returns the smallest size such that any two sets of that size share one of n
// members. It panics if n is not positive.
func Majority(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("quorum: a majority of %d members", n))
	}
	return n/2 + 1
}

// Intersect reports whether any set of a and any set of b out of n members share one.
func Intersect(n, a, b int) bool { return a+b > n }

// Tolerates returns how many of n members may fail while need of them remain.
func Tolerates(n, need int) int { return n - need }

// Committed returns the largest position that at least need members have reached; 0 if fewer
// have reached any. reached has the position of each member. It does not allocate.
func Committed(need int, reached []uint64) uint64 {
	if need <= 0 {
		panic("quorum: need must be positive")
	}
	var best uint64
	for _, p := range reached {
		if p > best && Count(reached, func(q uint64) bool { return q >= p }) >= need {
			best = p
		}
	}
	return best
}

// Count counts the members that satisfy is.
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

// A member has not answered yet, has agreed, or has refused or failed.
const (
	Pending Vote = iota
	Yes
	No
)

// Result is the result of a vote.
type Result uint8

// The vote is open, won, or lost whatever the pending members answer.
const (
	Open Result = iota
	Won
	Lost
)

var resultNames = [...]string{"open", "won", "lost"}

func (r Result) String() string { return resultNames[r] }

// Decide returns the result of votes if need of them must be Yes.
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
