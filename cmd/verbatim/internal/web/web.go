// Package web serves pages to a browser on the same machine: HTTP/1.1, one request for
// each connection, no uploads, no encryption. It exists because net/http includes all of
// TLS, which would be a fifth of the build time of the checker.
package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// Bounds of a request.
const (
	maxHead  = 96 << 10        // bytes of the request line and the headers
	headTime = 5 * time.Second // to send them
	bodyTime = 10 * time.Second
	grace    = 2 * time.Second // for answers in progress, after the context is done
)

// Request is a request of a browser.
type Request struct {
	Method, Host, Path string
	Query              url.Values
	header             textproto.MIMEHeader
}

// Header returns the value of a header, or nothing.
func (r *Request) Header(name string) string { return r.header.Get(name) }

// Response is an answer. Header alternates names and values.
type Response struct {
	Status int
	Header []string
	Body   []byte
}

// Text returns an answer of plain text.
func Text(status int, text string) *Response {
	return &Response{Status: status, Header: []string{"Content-Type", "text/plain; charset=utf-8"}, Body: []byte(text + "\n")}
}

// Redirect returns an answer that redirects to another address of this site.
func Redirect(address string) *Response {
	return &Response{Status: seeOther, Header: []string{"Location", address}}
}

// Statuses.
const (
	OK               = 200
	seeOther         = 303
	BadRequest       = 400
	Forbidden        = 403
	NotFound         = 404
	MethodNotAllowed = 405
	ServerError      = 500
)

var reasons = map[int]string{OK: "OK", seeOther: "See Other", BadRequest: "Bad Request", Forbidden: "Forbidden", NotFound: "Not Found",
	MethodNotAllowed: "Method Not Allowed", ServerError: "Internal Server Error"}

// Serve answers requests until the context is done, and closes the listener. The context of
// an answer is cancelled when the browser closes the connection.
func Serve(ctx context.Context, l net.Listener, answer func(context.Context, *Request) *Response) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	var open sync.WaitGroup
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				c.Close()
			}
			done := make(chan struct{})
			go func() { open.Wait(); close(done) }()
			select {
			case <-done:
			case <-time.After(grace):
			}
			return nil
		}
		if err != nil {
			return err
		}
		open.Go(func() { converse(ctx, c, answer) })
	}
}

// converse takes one request and answers it.
func converse(ctx context.Context, c net.Conn, answer func(context.Context, *Request) *Response) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(headTime)) // a connection without deadlines fails to read
	hurry := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })
	defer hurry()
	in := bufio.NewReader(io.LimitReader(c, maxHead))
	if _, err := in.Peek(1); err != nil {
		return // browsers connect in advance
	}
	r, err := read(in)
	hurry()
	x := Text(BadRequest, fmt.Sprint(err))
	if err == nil {
		_ = c.SetDeadline(time.Time{})
		here, gone := context.WithCancel(ctx)
		go func() { _, _ = io.Copy(io.Discard, c); gone() }()
		x = answer(here, r)
		gone()
	}
	_ = c.SetDeadline(time.Now().Add(bodyTime))
	_, err = c.Write(x.wire(r == nil || r.Method != "HEAD"))
	if t, ok := c.(*net.TCPConn); ok && err == nil {
		_ = t.CloseWrite()
		_ = t.SetReadDeadline(time.Now().Add(grace)) // closing with unread input could discard the answer
		_, _ = io.Copy(io.Discard, c)
	}
}

// read reads a request. It refuses requests that no browser sends.
func read(in *bufio.Reader) (*Request, error) {
	t := textproto.NewReader(in)
	line, err := t.ReadLine()
	if err != nil {
		return nil, incomplete(err)
	}
	method, rest, _ := strings.Cut(line, " ")
	target, version, ok := strings.Cut(rest, " ")
	if !ok || method == "" || version != "HTTP/1.1" && version != "HTTP/1.0" || !strings.HasPrefix(target, "/") {
		return nil, fmt.Errorf("%.80q is not an HTTP request", line)
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, err
	}
	h, err := t.ReadMIMEHeader()
	if err != nil {
		return nil, incomplete(err)
	}
	if n := len(h["Host"]); n != 1 {
		return nil, fmt.Errorf("the request has %d hosts", n)
	}
	return &Request{Method: method, Host: h.Get("Host"), Path: u.Path, Query: q, header: h}, nil
}

// incomplete returns the error for a truncated request.
func incomplete(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the request is incomplete after %v, or longer than %d bytes", headTime, maxHead)
	}
	return err
}

// wire returns the encoded answer.
func (x *Response) wire(body bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: %d\r\n", x.Status, reasons[x.Status], len(x.Body))
	clean := strings.NewReplacer("\r", " ", "\n", " ")
	for i := 0; i+1 < len(x.Header); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", x.Header[i], clean.Replace(x.Header[i+1]))
	}
	b.WriteString("\r\n")
	if body {
		b.Write(x.Body)
	}
	return b.Bytes()
}
