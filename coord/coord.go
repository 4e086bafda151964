package coord

import (
	"errors"
	"fmt"
	"strconv"
)

// Limits of keys and values. A request that exceeds them is refused with [ErrInvalid].
const (
	MaxKey   = 255     // bytes; a key has at least one
	MaxValue = 1 << 16 // bytes
)

// CheckKey checks that a key is within the limits. It and the next two serve
// implementations of [Client]; their errors wrap [ErrInvalid].
func CheckKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: the key is empty", ErrInvalid)
	}
	return CheckPrefix(key)
}

// CheckPrefix is CheckKey for the prefix of a List, which may be empty.
func CheckPrefix(prefix string) error {
	if len(prefix) > MaxKey {
		return fmt.Errorf("%w: the key has %d bytes, at most %d are allowed", ErrInvalid, len(prefix), MaxKey)
	}
	return nil
}

// CheckValue checks that a value is within the limits.
func CheckValue(value []byte) error {
	if len(value) > MaxValue {
		return fmt.Errorf("%w: the value has %d bytes, at most %d are allowed", ErrInvalid, len(value), MaxValue)
	}
	return nil
}

// AnyVersion as the condition of a Set or Delete requires only that the key exists. It
// is not zero, so that a forgotten version does not overwrite.
const AnyVersion = ^uint64(0)

// FirstVersion is the version of a key that was created and never set.
const FirstVersion = 1

// Session identifies a session. A session belongs to the host that opened it; to others
// it looks expired.
type Session uint64

// NoSession creates a key that stays until it is deleted.
const NoSession Session = 0

// Sentinels; test for them with errors.Is.
var (
	// ErrNotFound: the key does not exist.
	ErrNotFound = errors.New("coord: no such key")
	// ErrExists: the key to create already exists.
	ErrExists = errors.New("coord: key exists")
	// ErrVersion: the key does not have the version that the condition requires.
	ErrVersion = errors.New("coord: key has another version")
	// ErrSessionExpired: the session was closed, has expired, or belongs to another
	// host. Its keys are gone.
	ErrSessionExpired = errors.New("coord: session expired")
	// ErrUnavailable: no answer arrived. The request may or may not have been carried
	// out, or may be carried out a little later.
	ErrUnavailable = errors.New("coord: unavailable")
	// ErrInvalid: the key or the value is outside the limits.
	ErrInvalid = errors.New("coord: invalid request")
)

// Client is one host's access to the coordination service.
type Client interface {
	// Get returns the value of key, which the caller may keep, and its version.
	Get(key string) (value []byte, version uint64, err error)
	// Create makes key with version [FirstVersion]. It fails with [ErrSessionExpired]
	// if s has expired, and otherwise with [ErrExists] if the key exists. With
	// [NoSession] the key outlives its creator.
	Create(key string, value []byte, s Session) error
	// Set gives key a new value if it has version ifVersion, and returns the new
	// version. The key stays in the session in which it was created.
	Set(key string, value []byte, ifVersion uint64) (version uint64, err error)
	// Delete removes key if it has version ifVersion.
	Delete(key string, ifVersion uint64) error
	// List returns the keys that begin with prefix, in byte order.
	List(prefix string) ([]string, error)

	// NewSession opens a session. After [ErrUnavailable] there may be an unknown one;
	// it expires with the host.
	NewSession() (Session, error)
	// CheckSession returns nil if s was alive at some moment during the call.
	CheckSession(s Session) error
	// CloseSession closes s and removes its keys at once.
	CloseSession(s Session) error
}

// Error is a failed operation. It wraps one of the sentinels, and besides
// [ErrUnavailable] also the cause.
type Error struct {
	Op      string  // "get", "create", "set", ...
	Key     string  // the key or prefix, if the operation has one
	Session Session // the session, if the operation has one
	Err     error
}

func (e *Error) Error() string {
	// A protocol may encounter thousands of these and print none, so the text is made
	// here rather than with the error.
	s := e.Err.Error() + " (" + e.Op
	if e.Key != "" {
		s += " " + strconv.Quote(e.Key)
	}
	if e.Session != NoSession {
		s += " in session " + strconv.FormatUint(uint64(e.Session), 10)
	}
	return s + ")"
}

func (e *Error) Unwrap() error { return e.Err }
