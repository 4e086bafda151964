// Package litmus is a language, like that of herd7, for small RDMA programs with a
// question: is this outcome possible? docs/litmus.md has the whole grammar.
//
//	litmus message-passing
//	doc    A flag written after data; the reader sees the flag first.
//	source notes 3, test 3
//	rule   placement-order
//	hosts  A B
//	dram   B: d f
//	qp     A -> B
//
//	thread A
//	  write d <- 1
//	  write f <- 1
//	thread B
//	  r1 = load f
//	  r2 = load d
//
//	exists r1 == 1 && r2 == 0
//	  strong N # writes are placed in order
//	  rxe    N
//	  *      Y
//
// [Parse] parses and checks a [lang.Test], [lang.Format] writes one in canonical form, [Compile]
// turns it into an explore.Scenario, and [Run] searches all its runs and compares
// the result with the verdicts in the file.
//
// # How it runs
//
// A statement is interpreted as calls to host.Host and package verbs; the interpreter depends on
// the simulator only through the small interface machine. One exhaustive search of a test under
// a profile collects its final states, which answer all its questions. The final state contains
// what the questions name: registers, memory when all is quiet, and whether a thread is blocked.
//
// A thread that waits in a loop for a value reads once, and a run in which it does not find the
// value is excluded: the run in which it reads later is another one. A test with all runs
// excluded is an error that names the loop.
package litmus
