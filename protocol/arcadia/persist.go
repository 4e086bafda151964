package arcadia

import "github.com/verbatim-rdma/verbatim/host"

// Store is persistent memory as the primitives see it (3). Offsets are in bytes.
type Store interface {
	// Load copies what is at off. The error wraps host.ErrMedia: it cannot be read.
	Load(off int, p []byte) error
	// Store writes at off. The write is durable only after Force.
	Store(off int, p []byte)
	// Force makes earlier stores to [off, off+n) durable: persistent, or replicated and
	// persistent.
	Force(off, n int) error
}

// Local is the persistent memory of this host. Its Force is the persistence primitive (3).
type Local struct{ Region host.Region }

// Load implements Store.
func (l Local) Load(off int, p []byte) error { return host.TryLoad(l.Region, off, p) }

// Store implements Store.
func (l Local) Store(off int, p []byte) { l.Region.Store(off, p) }

// Force implements Store: it flushes the lines, and fences.
func (l Local) Force(off, n int) error {
	l.Region.Flush(off, n)
	l.Region.Fence()
	return nil
}
