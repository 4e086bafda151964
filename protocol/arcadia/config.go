package arcadia

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Errors, to be tested with errors.Is.
var (
	// ErrConfig: an invalid configuration.
	ErrConfig = errors.New("arcadia: bad configuration")
	// ErrFull: the ring has no room for the record until records before it are cleaned up.
	ErrFull = errors.New("arcadia: the log is full; clean records up")
	// ErrTooLarge: the record does not fit into an empty ring, or data exceed the record.
	ErrTooLarge = errors.New("arcadia: too large")
	// ErrComplete: the record is complete, and can no longer change.
	ErrComplete = errors.New("arcadia: the record is complete")
	// ErrIncomplete: the record, or some record, is not complete yet.
	ErrIncomplete = errors.New("arcadia: the record is not complete")
	// ErrCleaned: the record was cleaned up.
	ErrCleaned = errors.New("arcadia: the record was cleaned up")
	// ErrFenced: the log was opened again, and belongs to the new handle.
	ErrFenced = errors.New("arcadia: the log was opened again")
	// ErrCorrupt: the persistent memory holds a log that cannot be trusted.
	ErrCorrupt = errors.New("arcadia: corrupt")
	// ErrForeign: the persistent memory holds something that is not this log.
	ErrForeign = errors.New("arcadia: not this log")
	// ErrQuorum: fewer copies than the write quorum are left. The forced range may or may not be durable.
	ErrQuorum = errors.New("arcadia: no write quorum")
	// ErrUnavailable: too few copies are within reach to recover the log. Try again.
	ErrUnavailable = errors.New("arcadia: too few copies are within reach")
	// ErrNonsense: a primary or a backup received a message that violates the protocol.
	ErrNonsense = errors.New("arcadia: invalid message")
)

// MinSize and MaxSize bound Config.Size.
const (
	MinSize = ringAt + headerSize + 8
	MaxSize = 1 << 40
)

// MaxReplicatedSize bounds Config.Size of a log with backups: an immediate is the index of a word of 8 bytes.
const MaxReplicatedSize = 8 << 32

// DefaultTimeout replaces a Config.Timeout of 0.
const DefaultTimeout = time.Second

// Order is the moment at which the primary persists its own copy (5.3).
type Order uint8

// The orders of the paper. It found FlushAfter to be the best: an earlier flush evicts from the cache the lines that
// the card is about to read.
const (
	FlushAfter    Order = iota // after the backups have answered
	FlushBefore                // before the primary writes to the backups
	FlushParallel              // while the backups persist their copies
)

// Config describes a log. Without Backups its only copy is on this host.
type Config struct {
	// Name names the persistent region. It is also part of every checksum, so the remains of
	// another log are never taken for records of this log.
	Name string
	// Size is the size of the region in bytes, a multiple of 8. It does not change.
	Size int

	// Backups are the hosts that run ServeBackup for the log. This host has one more copy, unless
	// RemoteOnly is set. The backups never change while the log exists.
	Backups []string
	// Quorum is W, the number of copies that must be durable. A recovery needs N+1-W of N copies.
	Quorum int
	// RemoteOnly: this host has no persistent memory; its copy is in DRAM and does not count.
	RemoteOnly bool
	// Order is the order of the local flush.
	Order Order
	// Timeout is the longest time for an answer. A slower backup counts as failed. 0: DefaultTimeout.
	Timeout time.Duration
	// Coord is the cluster's service (4.2), which assigns epochs.
	Coord coord.Client
}

// copies returns N.
func (c *Config) copies() int {
	if c.RemoteOnly {
		return len(c.Backups)
	}
	return len(c.Backups) + 1
}

// readQuorum returns R, the smallest number with R+W > N (4.2).
func (c *Config) readQuorum() int { return c.copies() + 1 - c.Quorum }

// replicated reports whether the log is not in the local mode (4.1).
func (c *Config) replicated() bool { return len(c.Backups) > 0 || c.RemoteOnly }

// Validate checks c; Open calls it.
func (c *Config) Validate() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: Name is empty; it names the persistent region", ErrConfig)
	case c.Size < MinSize || c.Size > MaxSize || c.Size%8 != 0:
		return fmt.Errorf("%w: Size is %d; it must be a multiple of 8 from %d to %d", ErrConfig, c.Size, MinSize, MaxSize)
	case c.replicated():
		return c.validateReplicas()
	case c.Quorum != 0 || c.Order != 0 || c.Timeout != 0 || c.Coord != nil:
		return fmt.Errorf("%w: Quorum, Order, Timeout and Coord need Backups", ErrConfig)
	}
	return nil
}

// validateReplicas checks the fields of a replicated log.
func (c *Config) validateReplicas() error {
	for i, name := range c.Backups {
		if name == "" || len(name) > math.MaxUint8 || slices.Contains(c.Backups[:i], name) {
			return fmt.Errorf("%w: Backups is %q; the names must be distinct and have 1 to %d bytes", ErrConfig, c.Backups, math.MaxUint8)
		}
	}
	switch n := c.copies(); {
	case n < 1 || n > maxCopies:
		return fmt.Errorf("%w: %d copies; there must be 1 to %d", ErrConfig, n, maxCopies)
	case c.Quorum < 1 || c.Quorum > n:
		return fmt.Errorf("%w: Quorum is %d; it must be 1 to %d, the number of copies", ErrConfig, c.Quorum, n)
	case c.Size > MaxReplicatedSize:
		return fmt.Errorf("%w: Size is %d; with Backups it must be at most %d", ErrConfig, c.Size, MaxReplicatedSize)
	case c.Order > FlushParallel:
		return fmt.Errorf("%w: Order is %d", ErrConfig, c.Order)
	case c.RemoteOnly && c.Order != 0:
		return fmt.Errorf("%w: Order applies to the local flush; with RemoteOnly there is none", ErrConfig)
	case c.Timeout < 0:
		return fmt.Errorf("%w: Timeout is %v", ErrConfig, c.Timeout)
	case c.Coord == nil:
		return fmt.Errorf("%w: Coord is nil; it assigns the epochs", ErrConfig)
	}
	return nil
}

const maxCopies = 64
