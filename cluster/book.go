package cluster

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/coord"
)

// The address book has where machines take calls, by name. Entries stay when a machine dies,
// so that it is found as soon as it is back. To a protocol a name is all there is.
const hostsPrefix = "hosts/"

// AddressOf looks up the address of a machine. Its error wraps coord.ErrNotFound if the book
// has none.
func AddressOf(c coord.Client, name string) (string, error) {
	addr, _, err := c.Get(hostsPrefix + name)
	return string(addr), err
}

// publish enters an address, unless it is there already.
func publish(c coord.Client, name, addr string) error {
	now, _, err := c.Get(hostsPrefix + name)
	switch {
	case err == nil && string(now) == addr:
		return nil
	case err == nil:
		_, err = c.Set(hostsPrefix+name, []byte(addr), coord.AnyVersion)
	case errors.Is(err, coord.ErrNotFound):
		err = c.Create(hostsPrefix+name, []byte(addr), coord.NoSession)
		if errors.Is(err, coord.ErrExists) {
			_, err = c.Set(hostsPrefix+name, []byte(addr), coord.AnyVersion)
		}
	}
	return err
}
