// Package semantics is the reference machine: a second implementation of the rules of
// docs/semantics.md, which shares no code with the simulator. It is small and slow. It runs
// a litmus test under a profile and returns the final states of all runs:
//
//	r, err := semantics.Run(test, "relaxed", 100000)
//	fmt.Println(r.Finals)
//
// Its tests compare these final states with those of the simulator.
//
// # How to read it
//
// A [state] is a plain value with a canonical text. A rule is a function from a state to
// the states after one step of the rule, or a condition of such a step. Its name is the name
// of the rule on the page, in camel case: read-after-write is readAfterWrite. If a rule is
// one line of another function, a comment there names the rule. A test compares the names
// with the page.
//
// The search (search.go) takes every step of every state once. It makes every choice at once
// and omits no order; only the set of visited states prevents repetition.
//
// A request passes these stages:
//
//   - A thread posts it (post.go), after the stores in its store buffer (cpu.go).
//   - Its card takes it from the send queue, once fences allow it, and fetches its data
//     (requester.go).
//   - It reaches the responder's card, which checks it packet by packet (responder.go).
//   - Cells of a Write or Send reach memory one by one; a Read samples its cells one by one;
//     an Atomic reads, and then writes (execute.go); Flush and Atomic Write are in flush.go.
//   - The answer arrives, the request completes, and code polls the completion (requester.go,
//     thread.go). A receive completes when its message is in memory (responder.go).
//   - Lines of persistent memory are written back at any time (pmem.go).
//   - Queue pairs, registrations, links and hosts fail (fail.go), and queue pairs are connected
//     again (connect.go).
//
// # What it does not have
//
// [Run] refuses a program with an act that the machine lacks; the error wraps
// [ErrUnsupported] and names the act. The machine lacks the states INIT, RTR and SQD, so a
// queue pair is connected again only by connect; media errors; and timers. A connection is one
// step of both hosts, and a ghost places its Write at one moment.
//
// # Where the simulator differs
//
// testdata/differences has a program for each known difference. It quotes the text by which
// the reference machine is right, and lists the final states that only one of the machines
// reaches. A test fails when a difference disappears. The random programs omit these
// combinations.
//
// # Tests
//
//	go test ./semantics                                               seconds
//	go test ./semantics -run Files -whole -limit 20000 -timeout 0     all profiles of each file
//	go test ./semantics -run Generated -size 3                        all programs of package generate
//	go test ./semantics -run Random -programs 10000 -seed 1 -timeout 0
package semantics
