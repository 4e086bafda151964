package cluster

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/coord"
)

// The address book maps names to the addresses at which machines accept calls. An entry
// stays when its machine dies, so that others find the machine as soon as it is back.
// Protocols use names only.
const hostsPrefix = "hosts/"

// AddressOf looks up the address of a machine. Its error wraps coord.ErrNotFound if the
// book has none.
func AddressOf(c coord.Client, name string) (string, error) {
	addr, _, err := c.Get(hostsPrefix + name)
	return string(addr), err
}

// publish enters an address unless it is already there.
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
