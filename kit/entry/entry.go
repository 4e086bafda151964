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
	attempt []byte // the value of a Set whose answer was lost: the key may hold it
}

// Create makes key. The error wraps [coord.ErrExists] if it already exists.
func Create(c coord.Client, key string, value []byte) (*Entry, error) {
	if err := c.Create(key, value, coord.NoSession); err != nil {
		return nil, err
	}
	return &Entry{Key: key, Value: value, Version: coord.FirstVersion, c: c}, nil
}

// Load reads key. The error wraps [coord.ErrNotFound] if it does not exist.
func Load(c coord.Client, key string) (*Entry, error) {
	value, version, err := c.Get(key)
	if err != nil {
		return nil, err
	}
	return &Entry{Key: key, Value: value, Version: version, c: c}, nil
}

// Set changes the value. If another host has changed it, the error wraps [ErrTaken]. After
// any other error the change may have taken effect, or may take effect later.
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

// Delete removes the key unless another host has changed it. A missing key is no error:
// the answer to an earlier Delete may have been lost.
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

// Confirm resolves a Set whose answer was lost. It returns nil if there was none. It
// recognizes this host's change by the value, so no two hosts may ever write the same
// value: include an epoch or the name of the host.
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

// InDoubt reports whether the answer to a Set was lost and is not yet resolved.
func (e *Entry) InDoubt() bool { return e.attempt != nil }
