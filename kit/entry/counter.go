package entry

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Next increments the counter at key and returns it; the first number is 1. No other
// call, on any host, returns the same number as long as the key is not deleted.
func Next(c coord.Client, key string) (uint64, error) {
	for {
		value, version, err := c.Get(key)
		n := uint64(1)
		switch {
		case errors.Is(err, coord.ErrNotFound):
			err = c.Create(key, binary.BigEndian.AppendUint64(nil, n), coord.NoSession)
		case err == nil && len(value) != 8:
			err = fmt.Errorf("%w: the counter %s has %d bytes", ErrMalformed, key, len(value))
		case err == nil:
			n = binary.BigEndian.Uint64(value) + 1
			_, err = c.Set(key, binary.BigEndian.AppendUint64(nil, n), version)
		}
		if errors.Is(err, coord.ErrExists) || errors.Is(err, coord.ErrVersion) {
			continue // another host was faster
		}
		return n, err
	}
}

// Put sets a key unconditionally: for keys that only this host writes.
func Put(c coord.Client, key string, value []byte) error {
	err := c.Create(key, value, coord.NoSession)
	if errors.Is(err, coord.ErrExists) {
		_, err = c.Set(key, value, coord.AnyVersion)
	}
	return err
}
