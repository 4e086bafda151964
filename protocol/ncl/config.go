package ncl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors; test for them with errors.Is.
var (
	// ErrUnavailable: more than f peers have failed. The operation may or may not have
	// taken effect.
	ErrUnavailable = errors.New("ncl: unavailable")
	// ErrNotFound: the ap-map has no such file.
	ErrNotFound = errors.New("ncl: no such file")
	// ErrExists: the ap-map already has the file.
	ErrExists = errors.New("ncl: file exists")
	// ErrStale: another instance of the application has taken over the file.
	ErrStale = errors.New("ncl: another instance has taken the file over")
	// ErrRejected: a peer refused a request; the cause is a host.RemoteError.
	ErrRejected = errors.New("ncl: rejected by the peer")
	// ErrBounds: the range exceeds the file.
	ErrBounds = errors.New("ncl: outside the file")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("ncl: closed")
	// ErrExhausted: the epochs or sequence numbers of the file are used up.
	ErrExhausted = errors.New("ncl: sequence numbers are exhausted")
	// ErrTooFew: too few peers accept the file. The peers that were asked have rejected it
	// or did not answer, and the controller lists no others.
	ErrTooFew = errors.New("ncl: too few peers are available")
	// ErrRunning: an instance of the application is already running.
	ErrRunning = errors.New("ncl: an instance of the application is running")
	// ErrConfig: a configuration or an argument exceeds the limits.
	ErrConfig = errors.New("ncl: bad configuration")
	// ErrMalformed: received bytes are malformed.
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

// Config configures an application.
type Config struct {
	// App is the identifier of the application. It must not contain a slash.
	App string
	// Peers, if not empty, are the candidates for the peers of new files and for the
	// replacement of failed peers, the preferred ones first; at least 2f+1. If it is
	// empty, the controller names the peers with free memory. A file that is recovered
	// has the peers of its ap-map entry.
	Peers []string
	// F is the number of the 2f+1 peers of a file that may fail.
	F int
	// Coord is the controller, which holds the ap-map and the list of peers.
	Coord coord.Client
	// CallTimeout bounds each control-plane call. Default [DefaultCallTimeout].
	CallTimeout time.Duration
	// CompletionTimeout bounds each wait for a completion. The default is no limit,
	// since a card reports a dead peer by itself.
	CompletionTimeout time.Duration
	// QueueDepth is the length of each send queue. A write takes two slots, and waits
	// for a peer whose queue is full. Default [DefaultQueueDepth].
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
		return fmt.Errorf("%w: a send queue of %d: a write takes two slots", ErrConfig, c.QueueDepth)
	}
	if err := validateF(c.F); err != nil {
		return err
	}
	if n := len(c.Peers); n > 0 && n < 2*c.F+1 {
		return fmt.Errorf("%w: %d peers for f = %d; want at least 2f+1", ErrConfig, n, c.F)
	}
	return validatePeers(c.Peers)
}

func validateF(f int) error {
	if f < 0 || f > MaxF {
		return fmt.Errorf("%w: f = %d; want 0 to %d", ErrConfig, f, MaxF)
	}
	return nil
}

func validatePeers(peers []string) error {
	for i, p := range peers {
		if !validName(p) || strings.Contains(p, "/") {
			return fmt.Errorf("%w: peer %q: 1 to %d bytes without a slash", ErrConfig, p, MaxName)
		}
		if slices.Contains(peers[:i], p) {
			return fmt.Errorf("%w: peer %q is named twice", ErrConfig, p)
		}
	}
	return nil
}

func validName(s string) bool { return len(s) >= 1 && len(s) <= MaxName }

func validSize(size int) bool { return size >= 1 && size <= MaxSize }

// complete validates c and the name, and returns c with its defaults filled in.
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

// PeerConfig configures a log peer.
type PeerConfig struct {
	// Memory is the number of bytes that the peer lends. A file takes twice its size plus
	// 16: a region, and as much again for the copy that a recovery or a replacement makes.
	Memory int
	// Coord is the controller. Without one the peer does not register, so that only
	// applications that list it in Config.Peers use it, and does not collect.
	Coord coord.Client
	// Unlisted: the peer does not register, but collects.
	Unlisted bool
	// CollectEvery is how often the peer looks for leaked regions. By default it does
	// so only on request: see [Collect].
	CollectEvery time.Duration
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *PeerConfig) Validate() error {
	switch {
	case c.Memory < claim(1):
		return fmt.Errorf("%w: a peer that lends %d bytes: a file of one byte takes %d", ErrConfig, c.Memory, claim(1))
	case c.CollectEvery < 0 || c.CollectEvery > 0 && c.Coord == nil:
		return fmt.Errorf("%w: CollectEvery is %v; it must not be negative, and needs Coord (set: %v)", ErrConfig, c.CollectEvery, c.Coord != nil)
	}
	return nil
}
