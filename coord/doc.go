// Package coord is the coordination service that replication protocols lean on
// for the few facts that everybody must agree about: who leads, which replicas
// form the group, which epoch is current. The papers take ZooKeeper for it.
//
// A protocol sees a [Client]: a flat set of keys with small values, every
// operation linearizable.
//
// # Versions
//
// A key that is created has version 1, and every Set adds one. Set and Delete
// take the version that the key must have, so that a change built on an old
// value is refused:
//
//	value, version, err := c.Get("members")
//	...
//	_, err = c.Set("members", changed, version) // ErrVersion: somebody was faster
//
// Deleting a key and creating it again starts at 1 again, as it does in etcd
// and in ZooKeeper. A key that serves as an epoch must therefore never be
// deleted.
//
// # Sessions
//
// A [Session] stands for a client that is alive. A key created in a session
// vanishes together with it: when the client closes it, or when the service has
// not heard of the client for too long. The client learns of the latter only by
// asking, and possibly much later than everybody else; until then it is a
// zombie that believes it still holds its keys. Whatever such a key guards
// must be guarded a second time, by an epoch or by revoking remote access.
//
// How long "too long" is, and sending the heartbeats, is a matter of the
// implementation.
//
// # Errors
//
// Every error is an [*Error] that names the operation and the key and wraps one
// of the sentinels. [ErrUnavailable] is the one to be careful with: the request
// may or may not have been carried out. Any other error means that nothing was
// changed. The service never carries out a request twice.
//
// # The simulated service
//
// [Store] is the whole service as a state machine: bytes in, bytes out, no
// clock. Sessions end when the simulator says so, which makes expiry a choice
// that the checker explores. [NewClient] makes the Client that speaks to it
// through [host.Host]. Package coordtest tests any implementation. [Keeper] is the
// service for a real process: there, sessions end by a clock.
//
// # Real services
//
// Package etcd, below this one, speaks to an etcd cluster. docs/controllers.md says
// how one would do the same for ZooKeeper.
package coord
