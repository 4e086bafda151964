// Package virtual gives a simulated cluster a clock: it wraps a host.Host and its
// card, and every call costs what a [Model] says.
//
//	cluster, err := virtual.New(virtual.ConnectX4())
//	h := cluster.Host(inner) // protocol code runs on h as it does on inner
//	began := h.Now()
//
// The simulator below decides what happens, as ever; this package decides when. It is
// for performance runs in the simulator's first order of events, in which nothing
// goes wrong that the program does not do itself. The checker does not use it and
// pays nothing for it.
//
// # How time passes
//
// Each host has one clock, as if it had one core. What its CPU does moves the clock:
// posting, polling, copying, allocating, registering, setting up queue pairs. A
// request of a card takes its own course meanwhile: the card fetches it, its packets
// take their turn on the sender's link and on the receiver's, the responder fetches
// what is read, and the answer comes back. Its completion has the time at which all
// that is done, and a wait for it moves the clock there. A message carries the time
// at which it arrives, and the receiver's clock moves there. So times follow causes,
// in whatever order the simulator runs the hosts.
//
// # Limits
//
// Nothing varies: no jitter, no contention beyond the two links, no caches. The
// tasks of one host take turns on its clock. A timeout costs nothing. Completions of
// several connections are taken in the simulator's order, which is that of posting.
package virtual
