// Package etcd implements package coord on an etcd cluster:
//
//	c, err := etcd.New(etcd.Config{Endpoints: []string{"10.0.0.9:2379"}, Name: "app"})
//	defer c.Close()
//	cfg := ncl.Config{Coord: c, ...}
//
// It is for hosts on the operating system; in the simulator, coord.Store is the
// service. Both pass the suite of package coordtest.
//
// # Keys
//
// The key k is PREFIX/keys/k, and its version is the one that etcd keeps: 1 when it is
// created, one more with each put, 1 again after a delete. Every conditional operation
// is one transaction; its else branch reads why the condition does not hold. Reads are
// linearizable.
//
// # Sessions
//
// A session is a lease, and has the lease's number. The name of the host that opened it
// is the value of PREFIX/sessions/NUMBER (in hexadecimal), a key on the lease. A
// transaction can test this key, and it vanishes together with the lease and all its
// keys. So Create finds out atomically whether the session is alive, who owns it and
// whether the key exists. Operators can list the sessions by these keys:
//
//	etcdctl get --prefix verbatim/sessions/
//
// The client keeps the lease alive until the client is closed or the process exits. A
// process that is stopped for longer than the TTL, or cannot reach the cluster for that
// long, has lost the session. Heartbeats show that the process is alive, not that its
// tasks make progress.
//
// # Errors
//
// A call that gets no answer of the service returns coord.ErrUnavailable, which wraps
// the error of etcd or gRPC: no connection, no leader, no answer within the timeout, no
// permission, no space. No change is sent twice.
package etcd
