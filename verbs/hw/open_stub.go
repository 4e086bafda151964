//go:build !rdma

package hw

import "github.com/verbatim-rdma/verbatim/verbs"

// Built reports whether this program can open cards.
const Built = false

// Open fails, since this program was built without the tag rdma: the error wraps
// [ErrNotBuilt] and explains how to build with it.
func Open(cfg Config) (verbs.Device, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrNotBuilt
}

// Devices returns the names of the cards of this machine.
func Devices() ([]string, error) { return nil, ErrNotBuilt }
