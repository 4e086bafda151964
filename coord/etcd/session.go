package etcd

import (
	"errors"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/verbatim-rdma/verbatim/coord"
)

// sessionKey returns the mark of a session: a key on its lease whose value is the name of
// its host. etcd removes it together with the session's other keys, and unlike a lease
// a transaction can test it.
func (c *Client) sessionKey(s coord.Session) string {
	return c.cfg.Prefix + "sessions/" + strconv.FormatUint(uint64(s), 16)
}

// owns returns the condition that s is alive and belongs to this host: no comparison of
// values is true for a missing key.
func (c *Client) owns(s coord.Session) clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(c.sessionKey(s)), "=", c.cfg.Name)
}

// isOwner is owns for the answer to a Get of the mark.
func (c *Client) isOwner(mark []*mvccpb.KeyValue) bool {
	return len(mark) == 1 && string(mark[0].Value) == c.cfg.Name
}

// NewSession implements [coord.Client]. The session lives as long as the process,
// unless the cluster receives no heartbeat for the TTL.
func (c *Client) NewSession() (coord.Session, error) {
	s, err := c.newSession()
	if err != nil {
		return coord.NoSession, &coord.Error{Op: "new session", Err: c.unavailable(err)}
	}
	return s, nil
}

func (c *Client) newSession() (coord.Session, error) {
	ctx, cancel := c.context()
	defer cancel()
	// If anything below fails, the lease is not kept alive and expires.
	lease, err := c.etcd.Grant(ctx, int64(c.cfg.TTL/time.Second))
	if err != nil {
		return coord.NoSession, err
	}
	s := coord.Session(lease.ID)
	if _, err = c.etcd.Put(ctx, c.sessionKey(s), c.cfg.Name, clientv3.WithLease(lease.ID)); err != nil {
		return coord.NoSession, err
	}
	alive, err := c.etcd.KeepAlive(c.etcd.Ctx(), lease.ID)
	if err != nil {
		return coord.NoSession, err
	}
	go func() {
		for range alive { // the heartbeats' answers are unused, but must be received
		}
	}()
	return s, nil
}

// CheckSession implements [coord.Client]. It always asks the cluster: the last
// heartbeat may be old.
func (c *Client) CheckSession(s coord.Session) error {
	if err := c.check(s); err != nil {
		return &coord.Error{Op: "check session", Session: s, Err: err}
	}
	return nil
}

func (c *Client) check(s coord.Session) error {
	ctx, cancel := c.context()
	defer cancel()
	resp, err := c.etcd.Get(ctx, c.sessionKey(s))
	switch {
	case err != nil:
		return c.unavailable(err)
	case !c.isOwner(resp.Kvs):
		return coord.ErrSessionExpired
	}
	return nil
}

// CloseSession implements [coord.Client].
func (c *Client) CloseSession(s coord.Session) error {
	if err := c.close(s); err != nil {
		return &coord.Error{Op: "close session", Session: s, Err: err}
	}
	return nil
}

func (c *Client) close(s coord.Session) error {
	if err := c.check(s); err != nil { // anybody may revoke a lease
		return err
	}
	ctx, cancel := c.context()
	defer cancel()
	_, err := c.etcd.Revoke(ctx, clientv3.LeaseID(s))
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return coord.ErrSessionExpired
	case err != nil:
		return c.unavailable(err)
	}
	return nil
}

func ops(o ...clientv3.Op) []clientv3.Op { return o }

// answers are the answers to the operations of a transaction.
type answers []*etcdserverpb.ResponseOp

// found returns the result of the i-th operation, a Get.
func (a answers) found(i int) []*mvccpb.KeyValue { return a[i].GetResponseRange().Kvs }
