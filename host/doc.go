// Package host is what protocol code gets from the machine it runs on: tasks,
// clock and timers, random numbers, mutexes and conditions for the tasks of one
// machine, memory that the card can reach, and control-plane messages to named
// hosts.
//
// Protocol code takes its time, randomness and concurrency from here and from
// nowhere else: no goroutine, no package time, no package math/rand. Under the
// simulator each of them is then a recorded choice; on hardware each is the
// operating system's own, reached by one method call.
//
// # Memory
//
// Memory that a card can read or write is a [Region]. Its bytes are reached by
// Load, Store and their 64-bit forms, so that the simulator can show torn and
// stale values. On hardware these are plain copies.
//
// # Control plane
//
// A server takes requests from a [Listener]. A client calls one host with
// [Host.Call], or several at once with [Host.Gather], and waits for as many
// answers as it needs. A request is delivered at most once; an error says that
// the answer did not come, not that the request was not carried out.
//
// # Time
//
// Time is an assumption, and a protocol says nothing of it by itself. [Host.Now] and
// [Host.Sleep] go by the clock of the host, and so does every timeout: of a call, a
// Gather, an Accept, or a wait for completions. A negative timeout is none. A timer is
// never early by the clock of its host. How late it is, how the clocks of two hosts relate,
// and how long a step takes, nobody promises.
//
// The operating system promises no more than that. A check assumes one of three regimes,
// which its verdict names:
//
//   - idle: all hosts have one clock, which stands still while anything can happen, and
//     goes to the earliest deadline when nothing can. A timer means that something is
//     broken. What comes of one that fires early is not checked.
//   - free: a timer may fire at any moment, in the order of deadlines on its own host. A
//     protocol that is right under free does not rest on time.
//   - skew(r): timers are punctual by the clock of their host, and the clocks of different
//     hosts run within the ratio r. What a step takes is still unbounded: a host may stop
//     for as long as it likes between a look at its clock and what it does then.
//
// Under free and skew a look at a clock finds the earliest or the latest time that it can
// show. The page docs/time.md has an example.
//
// # Tasks
//
// Tasks of one host share Go variables only under a [Mutex] of that host, or
// before the task that uses them is started.
package host
