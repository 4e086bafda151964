// Package coord is the coordination service of replication protocols, for the few facts
// on which all must agree: who leads, which replicas form the group, which epoch is
// current. The papers use ZooKeeper.
//
// A protocol sees a [Client]: a flat set of keys with small values, every
// operation linearizable.
//
// # Versions
//
// A new key has version 1, and every Set adds one. Set and Delete take the version that
// the key must have, so that a change based on an old value is refused:
//
//	value, version, err := c.Get("members")
//	...
//	_, err = c.Set("members", changed, version) // ErrVersion: another client was faster
//
// A key that is deleted and created again restarts at version 1, as in etcd and
// ZooKeeper. So never delete a key that serves as an epoch.
//
// # Sessions
//
// A [Session] represents a live client. A key created in a session vanishes together
// with it: when the client closes it, or when the service has received no heartbeat for
// too long. The client learns of an expiry only by asking, possibly much later than
// everybody else; until then it is a zombie that believes it still holds its keys.
// Whatever such a key guards must be guarded a second time, by an epoch or by revoking
// remote access.
//
// The implementation chooses how long "too long" is, and sends the heartbeats.
//
// # Errors
//
// Every error is an [*Error] that names the operation and the key and wraps one of the
// sentinels. Be careful with [ErrUnavailable]: the request may or may not have been
// carried out. Any other error means that nothing was changed. The service never
// executes a request twice.
//
// # The simulated service
//
// [Store] is the whole service as a state machine: bytes in, bytes out, no clock.
// Sessions expire when the simulator decides, so expiry is a choice that the checker
// explores. [NewClient] returns a Client of it over [host.Host]. Package coordtest
// tests any implementation. [Keeper] is the service for a real process, where sessions
// expire by a clock.
//
// # Real services
//
// Package etcd, below this one, is a client of an etcd cluster. docs/controllers.md
// describes how to write one for ZooKeeper.
package coord
