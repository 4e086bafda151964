package oshost

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// server accepts calls from others.
type server struct {
	h        *Host
	lis      net.Listener
	http     *http.Server
	done     chan struct{}
	slots    chan struct{} // one for each connection
	mu       sync.Mutex
	services map[string]*listener
}

func (h *Host) serve() error {
	lis, err := net.Listen("tcp", h.cfg.Listen)
	if err != nil {
		return fmt.Errorf("oshost: listen on %s: %w", h.cfg.Listen, err)
	}
	s := &server{h: h, lis: lis, done: make(chan struct{}), slots: make(chan struct{}, h.cfg.MaxConns), services: map[string]*listener{}}
	s.http = &http.Server{Handler: s, ReadTimeout: h.cfg.Slowest, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(logWriter{h}, "", 0), ConnState: s.connState, BaseContext: func(net.Listener) context.Context { return h.ctx }}
	s.http.Protocols = new(http.Protocols)
	s.http.Protocols.SetHTTP1(true)
	serve := s.http.Serve
	if h.cfg.TLS != nil {
		s.http.TLSConfig = h.cfg.TLS.Clone()
		s.http.TLSConfig.ClientAuth = tls.RequireAndVerifyClientCert
		s.http.TLSConfig.MinVersion = max(s.http.TLSConfig.MinVersion, tls.VersionTLS12)
		serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
	}
	h.server = s
	go func() {
		defer close(s.done)
		if err := serve(limited{lis, s.slots}); !errors.Is(err, http.ErrServerClosed) {
			h.Logf("oshost: no longer accepts calls: %v", err)
		}
	}()
	return nil
}

func (s *server) close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// limited accepts no more connections than there are slots. Others wait in the kernel's
// queue, which is bounded.
type limited struct {
	net.Listener
	slots chan struct{}
}

func (l limited) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
	}
	return c, err
}

func (s *server) connState(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		<-s.slots
	}
}

// logWriter passes net/http's messages about broken peers to the host's log.
type logWriter struct{ h *Host }

func (w logWriter) Write(p []byte) (int, error) {
	w.h.Logf("oshost: %s", bytes.TrimSpace(p))
	return len(p), nil
}

// listener is a service. It implements host.Listener.
type listener struct {
	h       *Host
	server  *server
	service string
	queue   chan *request
	closed  chan struct{}
	once    sync.Once
}

// Listen implements host.Host.
func (h *Host) Listen(service string) (host.Listener, error) {
	if !validService(service) {
		return nil, fmt.Errorf("oshost: listen: %w: service %q: 1 to %d bytes", ErrConfig, service, maxName)
	}
	s := h.server
	if s == nil {
		return nil, fmt.Errorf("oshost: listen to %s: %w: Config.Listen is not set", service, ErrConfig)
	}
	if h.ctx.Err() != nil {
		return nil, fmt.Errorf("oshost: listen to %s: %w", service, host.ErrClosed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.services[service] != nil {
		return nil, fmt.Errorf("oshost: %s already listens to %q", h.Name(), service)
	}
	l := &listener{h: h, server: s, service: service, queue: make(chan *request, h.cfg.Queue), closed: make(chan struct{})}
	s.services[service] = l
	return l, nil
}

// Accept implements host.Listener. It skips requests whose callers have given up: these
// have already returned an error.
func (l *listener) Accept(timeout time.Duration) (host.Request, error) {
	var expired <-chan time.Time
	if timeout >= 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	for {
		select {
		case <-l.closed:
			return nil, fmt.Errorf("accept %s: %w", l.service, host.ErrClosed)
		case <-l.h.ctx.Done():
			return nil, fmt.Errorf("accept %s: %w", l.service, host.ErrClosed)
		default:
		}
		select {
		case r := <-l.queue:
			if r.taken.CompareAndSwap(false, true) {
				return r, nil
			}
		case <-l.closed:
		case <-l.h.ctx.Done():
		case <-expired:
			return nil, fmt.Errorf("accept %s: %w", l.service, host.ErrTimeout)
		}
	}
}

// Close implements host.Listener.
func (l *listener) Close() error {
	err := fmt.Errorf("close %s: %w", l.service, host.ErrClosed)
	l.once.Do(func() {
		l.server.mu.Lock()
		delete(l.server.services, l.service)
		l.server.mu.Unlock()
		close(l.closed)
		err = nil
	})
	return err
}

// request is a call that waits for its answer. It implements host.Request.
type request struct {
	taken  atomic.Bool // by Accept, or by a caller that gives up in the queue
	from   string
	body   []byte
	limit  int
	once   sync.Once
	done   chan struct{} // closed when status and answer are set
	status int
	answer []byte
}

func (r *request) From() string { return r.from }
func (r *request) Body() []byte { return r.body }

func (r *request) Reply(body []byte) {
	if len(body) > r.limit {
		r.Reject(fmt.Sprintf("the answer has %d bytes, at most %d are allowed", len(body), r.limit))
		return
	}
	r.end(statusReply, bytes.Clone(body))
}

func (r *request) Reject(reason string) {
	r.end(statusRejected, []byte(reason[:min(len(reason), maxReason)]))
}

func (r *request) end(status int, answer []byte) {
	r.once.Do(func() {
		r.status, r.answer = status, answer
		close(r.done)
	})
}

// ServeHTTP handles one call, and waits for the service to answer it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headVersion, s.h.version)
	status, body, err := s.handle(w, r)
	if err != nil {
		if errors.Is(err, context.Canceled) { // the caller has gone, or the host has closed
			abort()
		}
		// A peer that violates the protocol must reconnect.
		w.Header().Set("Connection", "close")
		refused := statusOf(err)
		s.h.Logf("oshost: refuses a call from %s: %s", r.RemoteAddr, refused.reason)
		status, body = refused.status, []byte(refused.reason)
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.h.cfg.Slowest)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		abort() // the connection is gone
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the caller has gone
}

// abort closes the connection without an answer. A handler that merely returned would
// answer with an empty success.
func abort() { panic(http.ErrAbortHandler) }

func (s *server) handle(w http.ResponseWriter, r *http.Request) (int, []byte, error) {
	head, err := parseHead(r, s.h.cfg.Name, s.h.version)
	if err != nil {
		return 0, nil, err
	}
	limit := s.h.cfg.MaxMessage
	if r.ContentLength > int64(limit) { // before any byte of the body is read
		return 0, nil, refuse(statusTooLarge, "the request has %d bytes, this host accepts %d", r.ContentLength, limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return 0, nil, refuse(statusTooLarge, "the request has more than the %d bytes that this host accepts", limit)
	} else if err != nil {
		return 0, nil, refuse(statusMalformed, "the request is truncated: %v", err)
	}
	// The request arrived in time. The caller decides how long the service may take.
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, nil, err
	}
	s.mu.Lock()
	l := s.services[head.service]
	s.mu.Unlock()
	if l == nil {
		return statusNoService, nil, nil
	}
	req := &request{from: head.from, body: body, limit: limit, done: make(chan struct{})}
	select {
	case l.queue <- req:
	default:
		return statusBusy, nil, nil
	}
	select {
	case <-req.done:
		return req.status, req.answer, nil
	case <-l.closed:
		if req.taken.CompareAndSwap(false, true) { // the request was still in the queue
			return statusNoService, nil, nil
		}
	case <-r.Context().Done():
		req.taken.Store(true)
		return 0, nil, r.Context().Err()
	}
	select { // a service may close its listener and then answer what it has accepted
	case <-req.done:
		return req.status, req.answer, nil
	case <-r.Context().Done():
		return 0, nil, r.Context().Err()
	}
}
