// Package soft implements package verbs over TCP, in pure Go: a card made of goroutines. It
// needs no card, no root privileges, no C compiler and no kernel module, and builds wherever
// Go and package host/oshost do.
//
//	dev, err := soft.Open(soft.Config{Listen: "192.0.2.1:0"})
//	h, err := oshost.New(oshost.Config{Name: "peer1", Device: dev, Listen: ":7001", ...})
//
// It is for experiments and tests: the processes of a protocol run on any laptop, and any
// of them can be killed with kill -9 at any time. It is not fast. A Write takes tens of
// microseconds, while a card needs one or two. All bytes pass through the kernel and are
// copied twice.
//
// # Addresses
//
// A device listens at one address. An endpoint carries its IP address as the GID and its
// port as the LID, which has no other use on Ethernet. Each direction of a connection is a
// separate TCP connection: the requester dials when its first request is posted, and names
// its own queue pair and the wanted queue pair. The responder accepts the connection if the
// wanted queue pair is in RTR or beyond, and was connected to the requester's queue pair, as
// its address, number and PSN show. As on RoCE, there is no encryption and no
// authentication: any peer that knows a queue pair number, the PSN and an rkey can access
// the region.
//
// # The target side
//
// Goroutines of the device execute requests without the application, as a card does. An
// application that has stopped polling completions still lends its memory; a dead process
// does not. Requests of a connection are executed one after the other, in packets of 4096
// bytes. Each packet is checked as the specification requires, under the lock of the queue
// pair. So access is revoked once Modify or Dereg returns: no byte changes after that.
//
// # Promises
//
// [Profile] states, in the terms of package faults, what the device promises beyond the
// specification. Words of 8 aligned bytes are loaded and stored at once, at increasing
// addresses. Atomics are compare-and-swap instructions of the CPU: atomic among all queue
// pairs, against plain Writes, and against the CPUs of the machine that use package host's
// Regions (ATOMIC_GLOB). The device shows only some of the outcomes that its profile
// allows: it delays nothing on purpose, so a program that works here has not been checked.
// Package explore is the checker.
//
// A Flush to persistence calls Flush and Fence of the registered host.Region. So it syncs the
// file of persistent memory; on DRAM it does nothing, as Region.Flush documents. Memory
// without these methods cannot be registered for a Flush.
//
// # Failures
//
// TCP does the retransmission. A peer that dies or closes breaks the connection, and the
// requester's next completion is RETRY_EXC_ERR. If a peer is silent, because it has no power
// or no network, the requester waits for Config.Timeout times RetryCount+1. It waits equally
// long if the queue pair does not exist or is not ready. A broken connection stays broken: the
// queue pair must be created again, although a real one might have survived a short outage of
// the link. If no receive is posted, the responder answers with a NAK; the requester reads
// the payload again and resends the request with all requests after it.
//
// # Hostile bytes
//
// Input from the network is parsed with its length known and bounded, and no memory is
// allocated for it. A connection that breaks the rules is closed. A new connection must name
// its queue pairs within ten seconds, and there are at most Config.MaxConns connections. A
// requester that reads no answers is disconnected after thirty seconds.
//
// # Where things are
//
// config.go has the settings, device.go the listener, pd.go protection domains and regions,
// memory.go the copying of words, cq.go and channel.go completions, qp.go the states,
// post.go the queues, wire.go the wire format, request.go and complete.go the
// requester, respond.go and execute.go the responder, links.go cuts for tests.
package soft
