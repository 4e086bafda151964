// Package programs makes small random programs over all that packages host and verbs
// offer, and holds the searches of package explore against each other on them: every
// outcome that the naive search reaches in eager mode must be reached by every other
// search, and no other one. It is the yardstick that tells whether "verified" can be
// false.
//
//	go test ./explore/programs                                     1,000 programs
//	go test ./explore/programs -run TestPrograms -timeout 0 \
//	        -kind faults,pmem -programs 50000 -seed 1              50,000 of each of two kinds
//	go test ./explore/programs -run TestPrograms -v -program 'strong | a: write b x 1 | b: load x'
//
// # Programs
//
// A [Program] is data: a header, and for each host the acts of its lives. Its text reads
// like this:
//
//	relaxed crash(b)<=1 linger | a: write b x 1 s; wait b 1 | b again: load x / load x
//
// Host a posts a signaled Write of 1 to word x of b and waits for one completion; b
// loads x, in its first life and, having ended or crashed, in its second. The words of
// memory are x, y, z and w. Connections are made before the first step. The table in
// acts.go has all acts with their arguments; the flags of a request are one letter each.
// The condition ?1 before an act makes it depend on the last value that was seen. A host
// called b*2 stands for two interchangeable ones, b1 and b2; what names b means both, or
// for b1 the other one, and is done to both in one go, since code must treat alike what
// it calls interchangeable.
//
// [Generate] makes a program from a kind and a seed. Programs of the first kinds are mixed
// from small motifs, so that anything can meet anything; those of the last seven, from
// revocations on, are about one subject each, in which the acts of all hosts fit together:
// there are the corners that motifs meet once in a hundred thousand programs.
// [Compare] runs a program in all modes, and [Shrink] leaves out of it what a difference
// does not need.
//
// # Outcomes
//
// A task keeps what it sees to itself: tasks share no variable, and what one saw is known
// to the checks when it has ended (explore.Case.Report, which makes no two tasks
// conflict), when it has said so, or when it waits for ever as the run ends. So it is the
// simulator's own observations that must tell states apart, as in real protocols. A hang
// is an outcome, not a violation.
//
// # What is true
//
// The naive search in eager mode tries every sequence of choices and recognises no state.
// Where that is too much, the eager machine with states that are recognised takes its
// place; a comparison says which. Programs that are too large for both are counted and
// not compared.
package programs
