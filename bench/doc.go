// Package bench measures the two interfaces that protocols are written against:
// latency and throughput of single requests through package verbs, and of NCL's
// Record, on real cards and in the simulator, by the same code.
//
//	err := bench.Verbs(ctx, bench.Config{Backend: bench.RDMA, Ops: []string{"write"}, Sizes: []int{128},
//		StartPeer: start}, func(r bench.Row) error { ... })
//
// # On cards
//
// A client and a peer, each a process with an oshost.Host, connect a queue pair.
// Writes are measured as perftest's ib_write_lat does, by sending one back and
// forth and polling memory for it ([HalfRoundTrip]), and as the application sees
// them, from the post to the completion ([Completion]). Reads and compare-and-swaps
// are measured from post to completion, as ib_read_lat and ib_atomic_lat do.
//
// If perftest is installed, short rounds of ours and of perftest alternate on the same
// devices with the same size, MTU, inline limit, GID and number of iterations, pinned
// to the same processors and timed by the same counter. The comparison is the median of
// the ratios of the rounds' medians.
//
// # In the simulator
//
// Time in the simulator is not real, so there are no latencies: rows report how many
// requests it simulates per second of real time, and its allocations.
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
