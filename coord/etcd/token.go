package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/verbatim-rdma/verbatim/coord"
)

// tokens are the credentials of a client with a password: it logs in when a token is
// needed, and again when the cluster no longer knows it.
//
// The library would do the same, but sends the old token along with the new login,
// which etcd 3.4 refuses each time. So the login has its own connection, without
// credentials.
type tokens struct {
	user, password string
	bare           *clientv3.Client

	mu    sync.Mutex
	token string
}

// login gets a token now. Its error is for the caller of New.
func (t *tokens) login(ctx context.Context) error {
	_, err := t.get(ctx)
	switch {
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return fmt.Errorf("%w: user %q: %w", ErrConfig, t.user, err)
	case err != nil:
		return fmt.Errorf("%w: log in to etcd at %s: %w", coord.ErrUnavailable, strings.Join(t.bare.Endpoints(), ","), err)
	}
	return nil
}

// get returns the token. It is empty if the cluster asks for none.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" {
		return t.token, nil
	}
	resp, err := t.bare.Authenticate(ctx, t.user, t.password)
	if errors.Is(err, rpctypes.ErrAuthNotEnabled) {
		return "", nil
	}
	if err == nil {
		t.token = resp.Token
	}
	return t.token, err
}

// forget drops a token, unless there is already a newer one.
func (t *tokens) forget(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

func (t *tokens) current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.token
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (t *tokens) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := t.get(ctx)
	if err != nil || token == "" {
		return nil, err
	}
	return map[string]string{rpctypes.TokenFieldNameGRPC: token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials. Those who
// configure the endpoints decide whether to send a password in the clear.
func (t *tokens) RequireTransportSecurity() bool { return false }

// unary repeats a call that was refused because of its token, and so not carried out.
func (t *tokens) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	before := t.current()
	err := invoke(ctx, method, req, reply, cc, opts...)
	if !stale(err) {
		return err
	}
	t.forget(before)
	return invoke(ctx, method, req, reply, cc, opts...)
}

// stream starts a stream of heartbeats with a fresh token: a refused one would stop
// them for good.
func (t *tokens) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, begin grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	t.forget(t.current())
	return begin(ctx, desc, cc, method, opts...)
}

func stale(err error) bool {
	err = rpctypes.Error(err)
	return errors.Is(err, rpctypes.ErrInvalidAuthToken) || errors.Is(err, rpctypes.ErrAuthOldRevision) || errors.Is(err, rpctypes.ErrUserEmpty)
}
