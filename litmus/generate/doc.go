// Package generate makes litmus tests that nobody had to think of: all programs up
// to a size, each once up to renaming, with the final states that the simulator
// lets them have under each hardware profile. It is to verbs what diy7 is to
// processors. docs/generator.md has counts and times.
//
// # Programs
//
// A [Program] has up to three threads: A and C post work requests to queue pairs
// that lead to B, and B is the CPU of the host whose memory they are about. There
// are two locations, x and y, on B. Its name says it all:
//
//	A-wx-wy_B-ly-lx
//
// is A: Write x, Write y; B: load y, load x. The letters are w Write, r Read, c
// CompareSwap, a FetchAdd, l load, s store, i locked add (increment), t tell and h
// hear, and behind a location stand 2 (on the second queue pair), f (fenced, or for
// a load behind an mfence) and w (the thread waits for the completion). [Parse]
// reads a name.
//
// # Size
//
// The size of a program is the number of its accesses, fences, waits and messages,
// plus one for each second queue pair.
//
// # What is left out
//
// [All] leaves out programs that say nothing new. [Program.Validate] says of a
// program why it is none:
//
//   - A location that only one statement touches, or that nothing changes: no order
//     can be seen there.
//   - Threads that no chain of shared locations joins: the program is two smaller
//     ones side by side.
//   - A program without a verb: it is about the processor alone.
//   - A fence with nothing before it to wait for, a wait with nothing behind it, an
//     mfence without a store that it could drain.
//   - A message that is told before anything has completed, or after which the hearer
//     does nothing: it orders nothing. There is at most one message.
//   - Renamings: of x and y, of A and C, of the queue pairs of a host. Constants and
//     registers follow from the place of a statement. [Program.Canonical] is the one
//     that stands for all.
//
// # Final states
//
// A final state holds what every Read, atomic and load returned, and both locations
// when all is quiet. Reads and atomics that nobody waits for are waited for at the
// end of their thread. [Judge] collects the final states under each profile, and
// [Verdicts.Broken] checks that a weaker profile allows what a stronger one does.
package generate
