// Package generate generates litmus tests: all programs up to a size, each once up to
// renaming, with the final states that the simulator allows under each hardware
// profile. It is to verbs what diy7 is to processors. docs/generator.md has counts and
// times.
//
// # Programs
//
// A [Program] has up to three threads: A and C post work requests on queue pairs to B,
// and B is the CPU of the host that owns the memory. There are two locations on B, x
// and y. The name of a program is its text:
//
//	A-wx-wy_B-ly-lx
//
// is A: Write x, Write y; B: load y, load x. The letters are w Write, r Read, c
// CompareSwap, a FetchAdd, l load, s store, i locked add (increment), t tell and h
// hear. After a location, 2 means the second queue pair, f fenced (for a load, preceded
// by an mfence) and w that the thread waits for the completion. [Parse] parses a name.
//
// # Size
//
// The size of a program is the number of its accesses, fences, waits and messages,
// plus one for each second queue pair.
//
// # What is omitted
//
// [All] omits redundant programs. [Program.Validate] returns the reason:
//
//   - A location that only one statement touches, or that nothing changes: no order
//     is visible there.
//   - Threads that no chain of shared locations joins: the program is two smaller
//     ones side by side.
//   - A program without a verb: it concerns the processor alone.
//   - A fence with nothing before it to wait for, a wait with nothing after it, an
//     mfence without a store to drain.
//   - A message sent before anything has completed, or whose receiver does nothing
//     afterwards: it orders nothing. There is at most one message.
//   - Renamings: of x and y, of A and C, of the queue pairs of a host. Constants and
//     registers follow from the place of a statement. [Program.Canonical] is the
//     representative.
//
// # Final states
//
// A final state contains the results of all Reads, atomics and loads, and both
// locations when all is quiet. Reads and atomics without a wait are waited for at the
// end of their thread. [Judge] collects the final states under each profile, and
// [Verdicts.Broken] checks that a weaker profile allows everything that a stronger one
// does.
package generate
