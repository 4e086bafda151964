// Package programs generates small random programs over everything that packages host
// and verbs offer, and compares the searches of package explore on them: every search
// must reach exactly the outcomes that the naive search reaches in eager mode. It is
// the yardstick that shows whether "verified" can be false.
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
// loads x, in its first life and, after it has terminated or crashed, in its second.
// The words of memory are x, y, z and w. Connections are made before the first step.
// The table in acts.go has all acts with their arguments; the flags of a request are
// one letter each. The condition ?1 before an act makes it depend on the last value
// seen. A host called b*2 stands for two interchangeable ones, b1 and b2; the name b
// means both, or for b1 the other one. An act on b happens to both in one step, since code
// that declares hosts interchangeable must treat them alike.
// visit b {write b x 1; wait b 1} visits them one by one, in any order; inside the
// braces, b is the visited host.
//
// [Generate] makes a program from a kind and a seed. Programs of the first kinds are
// mixed from small motifs, in any combination; those of the last eight, from
// revocations on, each have one subject, and the acts of all hosts fit together: they
// reach corner cases that motifs reach once in a hundred thousand programs. [Compare]
// runs a program in all modes, and [Shrink] removes everything that a difference does
// not need.
//
// # Outcomes
//
// A task keeps its observations to itself: tasks share no variable, and the checks
// learn a task's observations when it has finished (explore.Case.Report, which makes no
// two tasks conflict), when it reports them, or when it is blocked as the run ends.
// So the simulator's own state must distinguish states, as in real protocols. A hang is
// an outcome, not a violation.
//
// # The reference
//
// The naive search in eager mode tries every sequence of choices and recognises no
// state. If that takes too long, the eager machine with recognised states replaces it;
// a comparison reports which one it used. Programs that are too large for both are
// counted but not compared.
package programs
