// Package bench measures two interfaces, on real cards and in the simulator, by the same
// code: latency and throughput of single requests through package verbs, and of NCL's
// Record.
//
//	err := bench.Verbs(ctx, bench.Config{Backend: bench.RDMA, Ops: []string{"write"}, Sizes: []int{128},
//		StartPeer: start}, func(r bench.Row) error { ... })
//
// # On cards
//
// A client and a peer, each a process with an oshost.Host, connect a queue pair. There
// are two measures of a Write. [HalfRoundTrip] sends a Write back and forth and polls
// memory for it, as perftest's ib_write_lat does. [Completion] is the time from the post
// to the completion, as the application sees it. Reads and compare-and-swaps are measured
// from post to completion, as in ib_read_lat and ib_atomic_lat.
//
// If perftest is installed, short rounds of this package and of perftest alternate on the
// same devices with the same size, MTU, inline limit, GID and number of iterations, pinned
// to the same processors and timed by the same counter. The comparison is the median of
// the ratios of the rounds' medians.
//
// # In the simulator
//
// Time in the simulator is not real, so there are no latencies: rows report the number of
// simulated requests per second of real time, and the allocations.
//
// [Paper] gives the simulator a clock, from package virtual, and repeats experiments of
// SplitFT's paper.
//
// # Where things are
//
// config.go has the settings, row.go the results. end.go is one end of a connection,
// loops.go the timed loops, peer.go the other side and wire.go its requests. cards*.go
// and simulator.go run the loops on the two backends, ncl.go Record on both; paper.go
// has the paper's experiments. perftest.go runs perftest, whose output package bench/perftest parses,
// compare.go alternates with it.
package bench
