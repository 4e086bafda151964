package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Client is a [coord.Client] of an etcd cluster. Goroutines may share it.
type Client struct {
	cfg  Config
	etcd *clientv3.Client
	bare *clientv3.Client // logs in; nil without a user
}

var _ coord.Client = (*Client)(nil)

// New makes a client. It does not wait for the cluster, unless it has to log in: then
// the error wraps [coord.ErrUnavailable] if there is no answer, and [ErrConfig] if user
// or password are wrong.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg}
	if err := c.connect(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Client) connect() (err error) {
	if c.cfg.User == "" {
		c.etcd, err = c.cfg.dial()
		return err
	}
	if c.bare, err = c.cfg.dial(); err != nil {
		return err
	}
	t := &tokens{user: c.cfg.User, password: c.cfg.Password, bare: c.bare}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.CallTimeout)
	defer cancel()
	if err := t.login(ctx); err != nil {
		return err
	}
	c.etcd, err = c.cfg.dial(grpc.WithPerRPCCredentials(t), grpc.WithChainUnaryInterceptor(t.unary), grpc.WithChainStreamInterceptor(t.stream))
	return err
}

// dial creates a connection, which is established on first use.
func (c *Config) dial(options ...grpc.DialOption) (*clientv3.Client, error) {
	t, err := c.tls()
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{
		Endpoints: c.Endpoints,
		TLS:       t,
		// The fastest pings that gRPC sends and etcd tolerates.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: c.CallTimeout,
		Logger:               zap.NewNop(), // failures are reported as errors
		DialOptions: append(options, grpc.WithConnectParams(grpc.ConnectParams{
			// Detects within about a second that a server is back.
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: c.CallTimeout,
		})),
	})
}

// Close closes the connections. Sessions that were not closed expire after their TTL,
// as when the process dies.
func (c *Client) Close() error {
	var errs []error
	for _, conn := range []*clientv3.Client{c.etcd, c.bare} {
		if conn == nil {
			continue
		}
		if err := conn.Close(); !errors.Is(err, context.Canceled) { // Close itself cancels the context
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Keys and sessions have separate name spaces below the prefix.
func (c *Client) key(key string) string { return c.cfg.Prefix + "keys/" + key }

// context bounds one call.
func (c *Client) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.etcd.Ctx(), c.cfg.CallTimeout)
}

// unavailable wraps the cause if a call got no answer that [coord] defines, whatever the
// cause is.
func (c *Client) unavailable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) { // calls wait for a connection, too
		err = fmt.Errorf("no answer in %v: %w", c.cfg.CallTimeout, err)
	}
	return fmt.Errorf("%w: etcd at %s: %w", coord.ErrUnavailable, strings.Join(c.cfg.Endpoints, ","), err)
}

// commit carries out then if all conditions hold, and otherwise reads the current values
// instead, in one transaction. The error reports that the call failed; ok reports
// whether the conditions held.
func (c *Client) commit(conditions []clientv3.Cmp, then, otherwise []clientv3.Op) (a answers, ok bool, err error) {
	ctx, cancel := c.context()
	defer cancel()
	resp, err := c.etcd.Txn(ctx).If(conditions...).Then(then...).Else(otherwise...).Commit()
	if err != nil {
		return nil, false, c.unavailable(err)
	}
	return resp.Responses, resp.Succeeded, nil
}

// Get implements [coord.Client].
func (c *Client) Get(key string) ([]byte, uint64, error) {
	if err := coord.CheckKey(key); err != nil {
		return nil, 0, failed("get", key, err)
	}
	ctx, cancel := c.context()
	defer cancel()
	resp, err := c.etcd.Get(ctx, c.key(key))
	switch {
	case err != nil:
		return nil, 0, failed("get", key, c.unavailable(err))
	case len(resp.Kvs) == 0:
		return nil, 0, failed("get", key, coord.ErrNotFound)
	}
	return resp.Kvs[0].Value, uint64(resp.Kvs[0].Version), nil
}

// Create implements [coord.Client].
func (c *Client) Create(key string, value []byte, s coord.Session) error {
	err := checkPair(key, value)
	if err == nil {
		err = c.create(key, value, s)
	}
	if err != nil {
		return &coord.Error{Op: "create", Key: key, Session: s, Err: err}
	}
	return nil
}

func (c *Client) create(key string, value []byte, s coord.Session) error {
	absent := clientv3.Compare(clientv3.Version(c.key(key)), "=", 0)
	if s == coord.NoSession {
		_, ok, err := c.commit([]clientv3.Cmp{absent}, ops(clientv3.OpPut(c.key(key), string(value))), nil)
		return either(ok, err, coord.ErrExists)
	}
	put := clientv3.OpPut(c.key(key), string(value), clientv3.WithLease(clientv3.LeaseID(s)))
	a, ok, err := c.commit([]clientv3.Cmp{c.owns(s), absent}, ops(put), ops(clientv3.OpGet(c.sessionKey(s))))
	if err == nil && !ok && !c.isOwner(a.found(0)) {
		return coord.ErrSessionExpired
	}
	return either(ok, err, coord.ErrExists)
}

// Set implements [coord.Client].
func (c *Client) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	if err := checkPair(key, value); err != nil {
		return 0, failed("set", key, err)
	}
	// Without IgnoreLease the key would leave its session.
	put := clientv3.OpPut(c.key(key), string(value), clientv3.WithIgnoreLease())
	a, err := c.ifVersion(key, ifVersion, put, clientv3.OpGet(c.key(key), clientv3.WithKeysOnly()))
	if err != nil {
		return 0, failed("set", key, err)
	}
	return uint64(a.found(1)[0].Version), nil
}

// Delete implements [coord.Client].
func (c *Client) Delete(key string, ifVersion uint64) error {
	err := coord.CheckKey(key)
	if err == nil {
		_, err = c.ifVersion(key, ifVersion, clientv3.OpDelete(c.key(key)))
	}
	if err != nil {
		return failed("delete", key, err)
	}
	return nil
}

// ifVersion carries out then if the key exists and has the version.
func (c *Client) ifVersion(key string, version uint64, then ...clientv3.Op) (answers, error) {
	k := c.key(key)
	// A missing key has version 0 in etcd, so the first condition does not follow from
	// the second.
	conditions := []clientv3.Cmp{clientv3.Compare(clientv3.Version(k), ">", 0)}
	if version != coord.AnyVersion {
		conditions = append(conditions, clientv3.Compare(clientv3.Version(k), "=", int64(version)))
	}
	a, ok, err := c.commit(conditions, then, ops(clientv3.OpGet(k, clientv3.WithKeysOnly())))
	if err == nil && !ok && len(a.found(0)) == 0 {
		return nil, coord.ErrNotFound
	}
	return a, either(ok, err, coord.ErrVersion)
}

// List implements [coord.Client].
func (c *Client) List(prefix string) ([]string, error) {
	if err := coord.CheckPrefix(prefix); err != nil {
		return nil, failed("list", prefix, err)
	}
	ctx, cancel := c.context()
	defer cancel()
	resp, err := c.etcd.Get(ctx, c.key(prefix), clientv3.WithPrefix(), clientv3.WithKeysOnly(),
		clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
	if err != nil {
		return nil, failed("list", prefix, c.unavailable(err))
	}
	keys := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		keys[i] = strings.TrimPrefix(string(kv.Key), c.key(""))
	}
	return keys, nil
}

func checkPair(key string, value []byte) error {
	if err := coord.CheckKey(key); err != nil {
		return err
	}
	return coord.CheckValue(value)
}

func failed(op, key string, err error) error { return &coord.Error{Op: op, Key: key, Err: err} }

// either returns err if the call failed, and refusal if its conditions did not hold.
func either(ok bool, err, refusal error) error {
	if err == nil && !ok {
		return refusal
	}
	return err
}
