package entry

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Entry is one key of the controller as this host knows it.
type Entry struct {
	Key     string
	Value   []byte // as last read or written
	Version uint64 // of Value

	c       coord.Client
	attempt []byte // what the key may have instead: the answer to its Set was lost
}

// Create makes key. The error wraps [coord.ErrExists] if it is there already.
func Create(c coord.Client, key string, value []byte) (*Entry, error) {
	if err := c.Create(key, value, coord.NoSession); err != nil {
		return nil, err
	}
	return &Entry{Key: key, Value: value, Version: coord.FirstVersion, c: c}, nil
}

// Load reads key. The error wraps [coord.ErrNotFound] if it is not there.
func Load(c coord.Client, key string) (*Entry, error) {
	value, version, err := c.Get(key)
	if err != nil {
		return nil, err
	}
	return &Entry{Key: key, Value: value, Version: version, c: c}, nil
}

// Set changes the value, if nobody else has: else the error wraps [ErrTaken]. After any
// other error the change may have taken effect, or take effect later.
func (e *Entry) Set(value []byte) error {
	if err := e.Confirm(); err != nil {
		return err
	}
	version, err := e.c.Set(e.Key, value, e.Version)
	switch {
	case errors.Is(err, coord.ErrVersion) || errors.Is(err, coord.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrTaken, err)
	case err != nil:
		e.attempt = value
		return err
	}
	e.Value, e.Version = value, version
	return nil
}

// Delete removes the key, if nobody else has changed it. That it is gone already is no
// error: the answer to an earlier Delete may have been lost.
func (e *Entry) Delete() error {
	err := e.Confirm()
	if err == nil {
		err = e.c.Delete(e.Key, e.Version)
	}
	switch {
	case errors.Is(err, coord.ErrNotFound):
		return nil
	case errors.Is(err, coord.ErrVersion):
		return fmt.Errorf("%w: %w", ErrTaken, err)
	}
	return err
}

// Confirm finds out what became of a Set whose answer was lost, and is nil if there was
// none. It tells this host's change from another's by the value, so no two hosts may ever
// write the same value: an epoch in it, or the name of the host, sees to that.
func (e *Entry) Confirm() error {
	if e.attempt == nil {
		return nil
	}
	now, err := Load(e.c, e.Key)
	switch {
	case errors.Is(err, coord.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrTaken, err)
	case err != nil:
		return err
	case !bytes.Equal(now.Value, e.Value) && !bytes.Equal(now.Value, e.attempt):
		return fmt.Errorf("%w: it has version %d", ErrTaken, now.Version)
	}
	e.Value, e.Version, e.attempt = now.Value, now.Version, nil
	return nil
}

// InDoubt reports whether a Set got no answer, and nobody has found out yet.
func (e *Entry) InDoubt() bool { return e.attempt != nil }
