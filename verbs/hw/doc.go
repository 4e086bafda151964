// Package hw implements package verbs on real cards: a thin binding to libibverbs for
// reliable connections, under the build tag rdma.
//
//	go build -tags rdma ./...     (needs libibverbs-dev and a C compiler)
//
// Without the tag the package compiles on every machine without a C compiler, and the
// error of [Open] explains how to build with it. Any card with a Linux driver works,
// including Soft-RoCE (rdma_rxe).
//
// # Opening
//
//	dev, err := hw.Open(hw.Config{Device: "mlx5_0"})
//
// The zero value of [Config] means the only card, its first port, and the address of
// the port's newest RoCE version. Errors name the device, the attribute and the errno,
// and a remedy where one is known, such as the list of devices, or how to raise the limit
// on locked memory. They wrap the errors of package verbs and the errno, if there is one.
//
// # Cost
//
// Posting a batch is one cgo call for each 64 requests: the chain of requests is in C
// memory of the queue pair, and Go writes it in place. Polling is one call for up to 64
// completions, which C writes into the caller's slice. A post also polls the send CQ, since
// it is already in C: the next poll may find the completion without a call. Neither
// allocates.
//
// Waiting spins for Config.Spin and then sleeps on the completion channel, a descriptor
// that the Go runtime polls: a sleeping wait blocks no thread.
//
// # Memory
//
// A card writes to physical pages without the Go runtime's knowledge, so its memory
// must not be managed by the garbage collector. [NewMemory] maps pages; package
// host/oshost does the same for regions. Memory with a method Pin is pinned while it is
// registered, so that it can refuse to be freed.
//
// # Differences from the simulator
//
// The driver chooses the length of a queue, at least the number requested and often the
// next power of two. It also chooses when a slot becomes free: at the latest when a
// later completion is polled. Rely on neither.
//
// Soft-RoCE interprets a retry count of 7 as "forever"; this package passes at most 6,
// so that a dead peer is detected as on cards.
//
// Whether a completion of a destroyed queue pair still appears in its CQ depends on the
// driver.
//
// # Where things are
//
// config.go has the settings, errors.go the errnos. Under the tag: binding.c is all of
// the C, device.go opens and describes a card, events.go handles its events, mr.go has
// protection domains and regions, cq.go and channel.go completions, qp.go connections
// and post.go the data path.
package hw
