package oshost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

func (h *Host) newClient() *http.Client {
	dialer := &net.Dialer{Timeout: h.cfg.Slowest,
		// A host that lost power sends nothing, and a call may have no time limit.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}
	// The transport uses a host's name as its address, so that it keeps connections by
	// name, and TLS checks the certificate against the name.
	dial := func(ctx context.Context, network, name string) (net.Conn, error) {
		name, _, err := net.SplitHostPort(name)
		if err != nil {
			return nil, err
		}
		addr, err := h.peer(name)
		if err != nil {
			return nil, err
		}
		return dialer.DialContext(ctx, network, addr)
	}
	t := &http.Transport{DialContext: dial, TLSHandshakeTimeout: h.cfg.Slowest, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeader, DisableCompression: true}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	if h.cfg.TLS != nil {
		t.TLSClientConfig = h.cfg.TLS.Clone()
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Call implements host.Host.
func (h *Host) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	ctx, cancel := h.within(timeout)
	defer cancel()
	return h.call(ctx, host.Call{To: to, Service: service, Body: req})
}

func (h *Host) within(timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout < 0 {
		return context.WithCancel(h.ctx)
	}
	return context.WithTimeout(h.ctx, timeout)
}

// call makes one call. Its answer is never nil without an error.
func (h *Host) call(ctx context.Context, c host.Call) ([]byte, error) {
	answer, err := h.roundTrip(ctx, c)
	if err == nil {
		return answer, nil
	}
	var rejected *host.RemoteError
	switch {
	case errors.As(err, &rejected), errors.Is(err, host.ErrUnreachable), errors.Is(err, host.ErrNoService), errors.Is(err, ErrTooLarge):
	case errors.Is(h.ctx.Err(), context.Canceled):
		err = fmt.Errorf("%w: %w", host.ErrClosed, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("%w: %w", host.ErrTimeout, err)
	default:
		err = unreachable(err)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		err = fmt.Errorf("%w: %w", host.ErrNotSent, err)
	}
	return nil, fmt.Errorf("call %s/%s: %w", c.To, c.Service, err)
}

// unreachable interprets a failed connection for a protocol. A connection that was not
// refused has timed out, even if the call had more time: the kernel takes about three
// seconds to detect a machine without power in the same network.
func unreachable(err error) error {
	var slow net.Error
	if errors.Is(err, syscall.EHOSTUNREACH) || errors.As(err, &slow) && slow.Timeout() {
		return fmt.Errorf("%w: %w: %w", host.ErrUnreachable, host.ErrTimeout, err)
	}
	return fmt.Errorf("%w: %w", host.ErrUnreachable, err)
}

func (h *Host) roundTrip(ctx context.Context, c host.Call) ([]byte, error) {
	if !validService(c.Service) {
		return nil, fmt.Errorf("%w: service %q: 1 to %d bytes", host.ErrNoService, c.Service, maxName)
	}
	if len(c.Body) > h.cfg.MaxMessage {
		return nil, fmt.Errorf("%w: the request has %d bytes, at most %d are allowed", ErrTooLarge, len(c.Body), h.cfg.MaxMessage)
	}
	if err := h.unknown(c.To); err != nil {
		return nil, err
	}
	if !validName(c.To) { // the name becomes part of the URL
		return nil, fmt.Errorf("%w: %q is not a host name", host.ErrUnreachable, c.To)
	}
	u := url.URL{Scheme: "http", Host: c.To, Path: pathPrefix + c.Service, RawPath: pathPrefix + url.PathEscape(c.Service)}
	if h.cfg.TLS != nil {
		u.Scheme = "https"
	}
	// A copy, because the transport may still read the body after it has returned an error.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(bytes.Clone(c.Body)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", host.ErrUnreachable, err)
	}
	// The transport repeats a POST only if it has written none of its bytes, so a
	// request is delivered at most once.
	setHead(req, h.cfg.Name, c.To, h.version)
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return h.answer(c, resp)
}

// answer decodes the response.
func (h *Host) answer(c host.Call, resp *http.Response) ([]byte, error) {
	if v := resp.Header.Get(headVersion); v == "" {
		return nil, fmt.Errorf("%w: %w: the server that answered (%s) is not a Verbatim host", host.ErrUnreachable, ErrProtocol, cut(resp.Status))
	} else if v != h.version {
		return nil, fmt.Errorf("%w: %w: it has version %q of the protocol, this host has %s; run the same release on both",
			host.ErrUnreachable, ErrVersion, cut(v), h.version)
	}
	limit := h.cfg.MaxMessage
	if resp.StatusCode != statusReply {
		limit = maxReason
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(body) > limit {
		return nil, fmt.Errorf("%w: %w: the answer has more than %d bytes", host.ErrUnreachable, ErrTooLarge, limit)
	}
	switch resp.StatusCode {
	case statusReply:
		return body, nil
	case statusRejected:
		return nil, &host.RemoteError{Host: c.To, Service: c.Service, Reason: string(body)}
	case statusNoService:
		return nil, host.ErrNoService
	case statusBusy:
		return nil, fmt.Errorf("%w: %w", host.ErrUnreachable, ErrBusy)
	case statusTooLarge:
		return nil, fmt.Errorf("%w: %s", ErrTooLarge, body)
	}
	return nil, fmt.Errorf("%w: %w: the host refused the request: %s", host.ErrUnreachable, ErrProtocol, body)
}

// gather is a set of calls. It implements host.Gather.
type gather struct {
	mu    sync.Mutex
	cond  *sync.Cond
	open  int // calls without an answer
	have  int // calls that succeeded
	known []host.Answer
	out   []host.Answer // the result of Wait, which belongs to the caller until the next Wait
}

// Gather implements host.Host.
func (h *Host) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	g := &gather{open: len(calls), known: make([]host.Answer, len(calls)), out: make([]host.Answer, len(calls))}
	g.cond = sync.NewCond(&g.mu)
	ctx, cancel := h.within(timeout)
	if len(calls) == 0 {
		cancel()
	}
	for i, c := range calls {
		c.Body = bytes.Clone(c.Body) // the caller may reuse it once Gather has returned
		go func() {
			body, err := h.call(ctx, c)
			if g.answered(i, body, err) {
				cancel()
			}
		}()
	}
	return g
}

// answered reports whether this was the last call.
func (g *gather) answered(i int, body []byte, err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known[i] = host.Answer{Body: body, Err: err}
	g.open--
	if err == nil {
		g.have++
	}
	g.cond.Broadcast()
	return g.open == 0
}

// Wait implements host.Gather.
func (g *gather) Wait(need int) []host.Answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.have < need && g.open > 0 {
		g.cond.Wait()
	}
	copy(g.out, g.known)
	return g.out
}
