// Package virtual adds a clock to a simulated cluster: it wraps a host.Host and its
// card, and every call takes the time that a [Model] defines.
//
//	cluster, err := virtual.New(virtual.ConnectX4())
//	h := cluster.Host(inner) // protocol code runs on h as it does on inner
//	began := h.Now()
//
// The simulator still decides what happens; this package decides when. It is for
// performance runs in the simulator's default order of events, without faults. The
// checker does not use it.
//
// # How time passes
//
// Each host has one clock, as if it had one core. The work of its CPU advances the
// clock: posting, polling, copying, allocating, registering, setting up queue pairs. A
// request proceeds on the card meanwhile: the card fetches it, its packets queue on the
// sender's and the receiver's link, the responder fetches the data of a Read, and the
// answer returns. The completion carries the time at which all of this is complete, and a
// wait for the completion advances the clock to that time. A message carries its arrival
// time, and the receiver's clock advances to it. So times respect causality, whatever the
// order in which the simulator runs the hosts.
//
// # Limits
//
// Nothing varies: no jitter, no contention beyond the two links, no caches. The tasks
// of one host share its clock. A timeout takes no time. Completions of several
// connections are polled in the simulator's order, which is the order of posting.
package virtual
