// Package rpc calls procedures of another host over a reliable connection, with
// two-sided Send and Recv.
//
// A client may have as many calls in flight as it has credits ([Config.Credits]). The
// server keeps a receive posted for each, so no Send ever meets a receiver that is not
// ready (RNR). [Client.Call] waits for the answer; [Client.Start] and [Client.Wait]
// split it for several calls at once.
//
// A connection that fails may have lost a request or only its answer. [ErrUnknown]
// means that the call may have been carried out, once; [ErrClosed] means that it was
// not. A call that is repeated after ErrUnknown must be idempotent, for instance by a
// number in the request.
//
// A card reports a dead peer to a sender, but not to a receiver: if the server dies
// after it took the request, no answer and no completion arrives. With
// [Config.KeepAlive] the receiver sends now and then to find out.
//
// The server is one task for each connection; see [Serve].
package rpc

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrConfig: a configuration exceeds the limits, or client and server differ in
	// theirs.
	ErrConfig = errors.New("rpc: bad configuration")
	// ErrTooLong: a request or an answer exceeds [Config.MaxMessage].
	ErrTooLong = errors.New("rpc: message too long")
	// ErrUnknown: the connection failed. The call may or may not have been carried out.
	ErrUnknown = errors.New("rpc: the call may have been carried out")
	// ErrClosed: the connection had already failed. The call was not carried out.
	ErrClosed = errors.New("rpc: the connection has failed")
	// ErrMalformed: the other side sent a malformed message.
	ErrMalformed = errors.New("rpc: malformed message")
)

// Config describes a connection. Client and server must agree on MaxMessage and Credits.
type Config struct {
	// MaxMessage is the largest size of a request or an answer in bytes, from 1 to
	// [MaxMessage].
	MaxMessage int
	// Credits is how many calls of one client may be in flight, from 1 to [MaxCredits].
	Credits int
	// KeepAlive is how long this end waits for a message before it sends an empty Write
	// to probe the other end, and how long that Write may take. 0: it waits forever
	// and never probes.
	KeepAlive time.Duration
}

// Limits of a [Config].
const (
	MaxMessage = 1 << 20
	MaxCredits = 1 << 10
)

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	switch {
	case c.MaxMessage < 1 || c.MaxMessage > MaxMessage:
		return fmt.Errorf("%w: MaxMessage is %d; it is 1 to %d", ErrConfig, c.MaxMessage, MaxMessage)
	case c.KeepAlive < 0:
		return fmt.Errorf("%w: KeepAlive is %v", ErrConfig, c.KeepAlive)
	case c.Credits < 1 || c.Credits > MaxCredits:
		return fmt.Errorf("%w: Credits is %d; it is 1 to %d", ErrConfig, c.Credits, MaxCredits)
	}
	return nil
}
