// Package host is the interface between protocol code and the machine it runs on:
// tasks, clock and timers, random numbers, mutexes and condition variables, memory that
// the card can reach, and control-plane messages to named hosts.
//
// Protocol code takes time, randomness and concurrency from this package only: no
// goroutine, no package time, no package math/rand. Under the simulator each of them is
// therefore a recorded choice. On hardware each is the operating system's own, one
// method call away.
//
// # Memory
//
// Memory that a card can read or write is a [Region]. Protocol code accesses its bytes
// by Load, Store and their 64-bit forms, so that the simulator can return torn and
// stale values. On hardware these are plain copies.
//
// # Control plane
//
// A server accepts requests from a [Listener]. A client calls one host with
// [Host.Call], or several at once with [Host.Gather], and waits for as many answers as
// it needs. A request is delivered at most once. An error means that no answer came,
// not that the request was not carried out.
//
// # Time
//
// Timing is an assumption that the code of a protocol does not state. [Host.Now],
// [Host.Sleep] and every timeout (of a call, a Gather, an Accept, or a wait for
// completions) follow the clock of the host. A negative timeout means no limit. A timer
// never fires early by its host's clock. Nothing bounds how late it is, how the clocks
// of two hosts relate, or how long a step takes.
//
// The operating system guarantees no more than that. A check assumes one of three
// regimes, which its verdict names:
//
//   - idle: all hosts share one clock. It stands still while any step is possible, and
//     jumps to the earliest deadline when none is, so a timer means that something is
//     broken. Timers that fire early are not checked.
//   - free: a timer may fire at any moment, in the order of deadlines on its own host. A
//     protocol that is correct under free does not depend on time.
//   - skew(r): timers are punctual by the clock of their host, and the clocks of different
//     hosts run within the ratio r. The duration of a step is still unbounded: a host may
//     pause for any time between reading its clock and acting on it.
//
// Under free and skew, reading the clock returns the earliest or the latest possible
// time. The page docs/time.md has an example.
//
// # Tasks
//
// Tasks of one host may share Go variables only under a [Mutex] of that host, or before
// the task that uses them is started.
package host
