// Package hw is the vocabulary of package verbs on real cards: a thin binding to
// libibverbs for reliable connections, under the build tag rdma.
//
//	go build -tags rdma ./...     (needs libibverbs-dev and a C compiler)
//
// Without the tag the package compiles on every machine, needs no C compiler, and
// [Open] says how to build with it. Any card that Linux has a driver for will do,
// Soft-RoCE (rdma_rxe) included.
//
// # Opening
//
//	dev, err := hw.Open(hw.Config{Device: "mlx5_0"})
//
// [Config] has one Validate; its zero value means the only card, its first port,
// and the address of the newest RoCE version that the port has. Errors name the
// device, the attribute and the errno, and say what to do where that is known:
// which devices there are, how to raise the limit on locked memory, and so on.
// They wrap the errors of package verbs and, where there was one, the errno.
//
// # Cost
//
// Posting a batch is one call into C, or one for each 64 requests: the chain of
// requests lives in C memory that belongs to the queue pair, and Go writes it in
// place. Polling is one call for up to 64 completions, which C writes where the
// caller wants them. A post looks at the send CQ as well, since it is in C anyway:
// the poll after it may find the completion without a call. Neither allocates.
//
// Waiting spins for Config.Spin and then sleeps on the completion channel, which
// is a descriptor that the Go runtime polls: a sleeping wait blocks no thread.
//
// # Memory
//
// A card writes to physical pages behind the back of the Go runtime, so memory for
// it must not be the garbage collector's. [NewMemory] maps pages; package
// host/oshost does the same for regions. Registered memory that has the method
// Pin is pinned for as long as the registration lasts, and can refuse to be freed.
//
// # What differs from the simulator
//
// The length of a queue is what the driver makes of the number asked for, often
// the next power of two, and when a slot becomes free is the driver's business:
// not later than the poll of a later completion. Rely on neither.
//
// Soft-RoCE takes a retry count of 7 for "for ever"; here it gets at most 6, so that
// a dead peer shows as it does on cards.
//
// A completion of a queue pair that was destroyed may still come out of its CQ, or
// not: it depends on the driver.
//
// # Where things are
//
// config.go has the settings, errors.go what an errno means. Under the tag:
// binding.c is all of the C, device.go opens and describes a card, events.go hears
// of its death, mr.go has protection domains and regions, cq.go and channel.go
// completions, qp.go connections and post.go the data path.
package hw
