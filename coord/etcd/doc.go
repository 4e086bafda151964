// Package etcd is package coord on an etcd cluster:
//
//	c, err := etcd.New(etcd.Config{Endpoints: []string{"10.0.0.9:2379"}, Name: "app"})
//	defer c.Close()
//	cfg := ncl.Config{Coord: c, ...}
//
// It is for hosts on the operating system. In the simulator, coord.Store is the
// service. Both pass the suite in package coordtest.
//
// # Keys
//
// The key k is PREFIX/keys/k, and its version is the version that etcd counts: 1
// when it is created, one more with each put, 1 again after a delete. Every
// operation that has a condition is one transaction, whose other branch reads why
// the condition does not hold. Reads are linearizable.
//
// # Sessions
//
// A session is a lease, and the number of the session is that of the lease. The
// name of the host that opened it is the value of PREFIX/sessions/NUMBER (in
// hexadecimal), a key on the lease. A transaction can ask for this key, and it
// vanishes together with the lease and with all that hangs on it, so Create knows
// at one moment whether the session is alive, whose it is and whether the key is
// there. It also shows a person who has sessions:
//
//	etcdctl get --prefix verbatim/sessions/
//
// The client keeps the lease alive until it is closed or the process ends. A
// process that stands still for longer than the TTL, or that cannot reach the
// cluster for so long, has lost the session. So has one whose tasks do nothing any
// more? No: heartbeats say that the process lives, not that it makes progress.
//
// # Errors
//
// Whatever is not an answer of the service is coord.ErrUnavailable, and wraps what
// etcd or gRPC said: no connection, no leader, no answer within the timeout, no
// permission, no space. Nothing that changes something is sent twice.
package etcd
