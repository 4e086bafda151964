package arcadia

import (
	"errors"
	"fmt"
)

// Errors, to be tested with errors.Is.
var (
	// ErrConfig: a configuration that cannot be.
	ErrConfig = errors.New("arcadia: bad configuration")
	// ErrFull: the ring has no room for the record until records before it are cleaned up.
	ErrFull = errors.New("arcadia: the log is full; clean records up")
	// ErrTooLarge: the record would not fit into an empty ring, or data exceed the record.
	ErrTooLarge = errors.New("arcadia: too large")
	// ErrComplete: the record is complete, and does not change any more.
	ErrComplete = errors.New("arcadia: the record is complete")
	// ErrIncomplete: the record, or one of all, is not complete yet.
	ErrIncomplete = errors.New("arcadia: the record is not complete")
	// ErrCleaned: the record was cleaned up.
	ErrCleaned = errors.New("arcadia: the record was cleaned up")
	// ErrFenced: the log was opened again, and belongs to the one who did.
	ErrFenced = errors.New("arcadia: the log was opened again")
	// ErrCorrupt: the persistent memory holds a log that cannot be trusted.
	ErrCorrupt = errors.New("arcadia: corrupt")
	// ErrForeign: the persistent memory holds something that is not this log.
	ErrForeign = errors.New("arcadia: not this log")
)

// MinSize and MaxSize bound Config.Size.
const (
	MinSize = ringAt + headerSize + 8
	MaxSize = 1 << 40
)

// Config describes a log.
type Config struct {
	// Name names the persistent region. It is also part of every checksum, so that what another
	// log has left there is no record of this one.
	Name string
	// Size is that of the region in bytes, a multiple of 8. It does not change.
	Size int
}

// Validate checks c; Open calls it.
func (c *Config) Validate() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: Name is empty; it names the persistent region", ErrConfig)
	case c.Size < MinSize || c.Size > MaxSize || c.Size%8 != 0:
		return fmt.Errorf("%w: Size is %d; it must be a multiple of 8 from %d to %d", ErrConfig, c.Size, MinSize, MaxSize)
	}
	return nil
}
