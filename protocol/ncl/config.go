package ncl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors, to be tested with errors.Is.
var (
	// ErrUnavailable: more than f peers are gone. What was being done may or
	// may not have taken effect.
	ErrUnavailable = errors.New("ncl: unavailable")
	// ErrNotFound: the ap-map has no such file.
	ErrNotFound = errors.New("ncl: no such file")
	// ErrExists: the ap-map has the file already.
	ErrExists = errors.New("ncl: file exists")
	// ErrStale: another instance of the application has the file now.
	ErrStale = errors.New("ncl: another instance has taken the file over")
	// ErrRejected: a peer refused a request; the cause is a host.RemoteError.
	ErrRejected = errors.New("ncl: rejected by the peer")
	// ErrBounds: the bytes are not within the file.
	ErrBounds = errors.New("ncl: outside the file")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("ncl: closed")
	// ErrExhausted: the epochs or sequence numbers of the file are used up.
	ErrExhausted = errors.New("ncl: numbers used up")
	// ErrConfig: a configuration or an argument is outside the limits.
	ErrConfig = errors.New("ncl: bad configuration")
	// ErrMalformed: bytes from elsewhere make no sense.
	ErrMalformed = errors.New("ncl: malformed message")
)

// Limits.
const (
	MaxName = 100       // bytes of the name of an application, file or peer
	MaxSize = 1<<30 - 8 // bytes of a file: a region is at most one message
	MaxF    = 7         // failures to tolerate
)

// Defaults of Config.
const (
	DefaultCallTimeout = time.Second
	DefaultQueueDepth  = 64
)

// Config is what an application says of itself.
type Config struct {
	// App is the application's identifier. It has no slash.
	App string
	// Peers are the 2f+1 log peers for new files. A file that is recovered has
	// those of its ap-map entry.
	Peers []string
	// F is how many of them may fail.
	F int
	// Coord is the controller, which holds the ap-map.
	Coord coord.Client
	// CallTimeout bounds each control-plane call. Default [DefaultCallTimeout].
	CallTimeout time.Duration
	// CompletionTimeout bounds each wait for a completion. The default is to
	// wait for ever: a card reports a dead peer by itself.
	CompletionTimeout time.Duration
	// QueueDepth is the length of each send queue. A write takes two places;
	// one that finds a queue full waits for that peer. Default [DefaultQueueDepth].
	QueueDepth int
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	switch {
	case !validName(c.App) || strings.Contains(c.App, "/"):
		return fmt.Errorf("%w: application %q: 1 to %d bytes without a slash", ErrConfig, c.App, MaxName)
	case c.Coord == nil:
		return fmt.Errorf("%w: no coordination service", ErrConfig)
	case c.QueueDepth < 0 || c.QueueDepth == 1:
		return fmt.Errorf("%w: a send queue of %d: a write takes two places", ErrConfig, c.QueueDepth)
	}
	return validatePeers(c.F, c.Peers)
}

func validatePeers(f int, peers []string) error {
	if f < 0 || f > MaxF || len(peers) != 2*f+1 {
		return fmt.Errorf("%w: %d peers for f = %d; it takes 2f+1, and f is at most %d", ErrConfig, len(peers), f, MaxF)
	}
	for i, p := range peers {
		if !validName(p) {
			return fmt.Errorf("%w: peer %q: 1 to %d bytes", ErrConfig, p, MaxName)
		}
		for _, q := range peers[:i] {
			if p == q {
				return fmt.Errorf("%w: peer %q is named twice", ErrConfig, p)
			}
		}
	}
	return nil
}

func validName(s string) bool { return len(s) >= 1 && len(s) <= MaxName }

func validSize(size int) bool { return size >= 1 && size <= MaxSize }

// complete returns c with its defaults filled in, if it and the name are valid.
func (c Config) complete(name string) (Config, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	if !validName(name) {
		return c, fmt.Errorf("%w: file %q: 1 to %d bytes", ErrConfig, name, MaxName)
	}
	if c.CallTimeout == 0 {
		c.CallTimeout = DefaultCallTimeout
	}
	if c.CompletionTimeout == 0 {
		c.CompletionTimeout = verbs.Forever
	}
	if c.QueueDepth == 0 {
		c.QueueDepth = DefaultQueueDepth
	}
	return c, nil
}

// key is where the ap-map has the file.
func (c *Config) key(name string) string { return "apps/" + c.App + "/" + name }

// PeerConfig is what a log peer lends.
type PeerConfig struct {
	// Memory is how many bytes it lends. A file takes its size and 8 bytes,
	// and twice that while it is being recovered.
	Memory int
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *PeerConfig) Validate() error {
	if c.Memory <= stampSize {
		return fmt.Errorf("%w: a peer that lends %d bytes", ErrConfig, c.Memory)
	}
	return nil
}
