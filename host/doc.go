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
// # Tasks
//
// Tasks of one host share Go variables only under a [Mutex] of that host, or
// before the task that uses them is started.
package host
