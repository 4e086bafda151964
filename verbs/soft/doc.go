// Package soft is the vocabulary of package verbs over TCP, in pure Go: a card made of
// goroutines. It takes no card, no root, no C compiler and no kernel module, and builds
// wherever Go and package host/oshost do.
//
//	dev, err := soft.Open(soft.Config{Listen: "192.0.2.1:0"})
//	h, err := oshost.New(oshost.Config{Name: "peer1", Device: dev, Listen: ":7001", ...})
//
// It is for trying and testing: a protocol runs as processes on any laptop, against each
// other and against kill -9. It is not fast. A Write takes tens of microseconds, of which
// a card needs one or two, and all of the bytes pass through the kernel and are copied twice.
//
// # Addresses
//
// A device listens at one address. An endpoint carries its IP address as the GID and its
// port as the LID, which has no other use on Ethernet. Each direction of a connection is a
// TCP connection of its own: the requester dials when its first request is posted, and
// says which queue pair it is and which one it wants. The responder takes it if that queue
// pair is in RTR or beyond, and was connected to the one that asks, by its address, its
// number and its PSN. Nothing is encrypted and nobody is authenticated, as on RoCE: whoever
// knows the numbers and the key of a region reaches it.
//
// # The target side
//
// Goroutines of the device carry requests out without the application, as a card does. One
// that has stopped taking completions still lends its memory; a process that has died does
// not. Requests of a connection are carried out one after the other, packet by packet of
// 4096 bytes, each with the checks that the specification asks for, under the lock of the
// queue pair. So what Modify or Dereg has revoked when it returns is revoked: no byte changes
// after that.
//
// # Promises
//
// [Profile] says in the words of package faults what the device promises beyond the
// specification. Words of 8 aligned bytes are loaded and stored at once, at increasing
// addresses. Atomics are compare-and-swap instructions of the CPU: atomic among all queue
// pairs, against plain Writes, and against the CPUs of the machine that use package host's
// Regions (ATOMIC_GLOB). Of what may come out of a profile it shows a part only: it delays
// nothing on purpose, so a program that is right here has not been checked. That is what
// package explore is for.
//
// A Flush to persistence calls Flush and Fence of the host.Region that is registered. So it
// syncs the file of persistent memory; on DRAM it does nothing, as Region.Flush says. Memory
// without these methods cannot be registered for it.
//
// # Failures
//
// TCP does the retransmission. A peer that dies or closes breaks the connection, and the
// requester's next completion is RETRY_EXC_ERR. A peer that is silent, for lack of power or of
// a network, costs Config.Timeout times RetryCount+1; so does a queue pair that is not there
// or not ready. A connection that is broken stays so: the queue pair has to be made anew,
// although a real one might have outlived a short cut of the link. A missing receive is a
// NAK, and the request is sent again with all behind it, its payload read anew.
//
// # Hostile bytes
//
// What comes from the network is parsed with its length known and bounded, and never
// allocated for. A connection that breaks the rules is closed. Strangers have ten seconds to
// say what they want, and Config.MaxConns connections. A requester that takes no answers is
// cut off after thirty seconds.
//
// # Where things are
//
// config.go has the settings, device.go the listener, pd.go protection domains and regions,
// memory.go how words are copied, cq.go and channel.go completions, qp.go the states,
// post.go the queues, wire.go what goes over the wire, request.go and complete.go the
// requester, respond.go and execute.go the responder, links.go cuts for tests.
package soft
