// Package rpc calls procedures of another host over a reliable connection, by Send and
// Recv on both sides.
//
// A client has as many calls under way as it has credits ([Config.Credits]); the server
// keeps a receive posted for each, so no Send ever finds a queue pair that is not ready
// (RNR). [Client.Call] waits for the answer; [Client.Start] and [Client.Wait] take the two
// halves apart, for several calls at once.
//
// A connection that fails may have lost a request or only its answer. [ErrUnknown] says so:
// the call may have been carried out, once. [ErrClosed] says that it was not. Whoever
// repeats a call of the first kind must make it idempotent, by a number of its own in the
// request for instance.
//
// A card reports a dead peer to whoever sends, and not to whoever waits to receive: an
// answer whose server has died after it took the request never comes, and no completion
// says so. [Config.KeepAlive] makes the one that waits send now and then.
//
// The server is one task for each connection; see [Serve].
package rpc

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrConfig: a configuration is outside the limits, or client and server have
	// different ones.
	ErrConfig = errors.New("rpc: bad configuration")
	// ErrTooLong: a request or an answer has more bytes than [Config.MaxMessage].
	ErrTooLong = errors.New("rpc: message too long")
	// ErrUnknown: the connection failed. The call may have been carried out, or not.
	ErrUnknown = errors.New("rpc: the call may have been carried out")
	// ErrClosed: the connection had failed before. The call was not carried out.
	ErrClosed = errors.New("rpc: the connection has failed")
	// ErrMalformed: the other side sent what no message is.
	ErrMalformed = errors.New("rpc: malformed message")
)

// Config describes a connection. Client and server must agree on MaxMessage and Credits.
type Config struct {
	// MaxMessage is how many bytes a request or an answer has at most. From 1 to
	// [MaxMessage].
	MaxMessage int
	// Credits is how many calls of one client may be under way. From 1 to [MaxCredits].
	Credits int
	// KeepAlive is how long this end waits for a message before it sends an empty Write to
	// find out whether the other end is there, and how long that may take. 0: it waits for
	// ever, and does not notice.
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
