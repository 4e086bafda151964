// Package litmus is a language for small RDMA programs with a question, in the
// spirit of herd7: may this outcome happen? docs/litmus.md is its whole grammar.
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
// [Parse] reads a file into a [lang.Test] and checks it, [lang.Format] writes one in its
// canonical form, [Compile] makes an explore.Scenario of it, and [Run] searches
// all its runs on a [Backend] and compares what it finds with what the file says.
//
// # How it runs
//
// A statement is interpreted as calls to host.Host and package verbs: nothing in
// the interpreter knows of the simulator except the small interface machine. One
// exhaustive search of a test under a profile collects the set of its final
// states, and all its questions are answered from that set. The final state holds
// what the questions name: registers, memory when all is quiet, and whether a
// thread is blocked.
//
// A thread that waits in a loop for a value looks once, and a run in which it
// looked in vain is left out: the run in which it looks later is another one. A
// test of which every run is left out is an error that names the loop.
package litmus
