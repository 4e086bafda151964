package verbs

import "fmt"

// anyAccess is the set of all flags.
const anyAccess = FlushPersistent<<1 - 1

// CheckAccess returns nil if a queue pair may have these access flags. flush reports whether the device
// supports Flush. The error wraps [ErrInvalid] or [ErrUnsupported].
func CheckAccess(a Access, flush bool) error {
	switch {
	case a&^anyAccess != 0:
		return fmt.Errorf("%w: access flags %#x; the known flags are %#x", ErrInvalid, uint8(a), uint8(anyAccess))
	case a&(FlushGlobal|FlushPersistent) != 0 && !flush:
		return fmt.Errorf("%w: access for Flush, which the device does not support", ErrUnsupported)
	}
	return nil
}

// CheckRegistration is CheckAccess for a memory region: as in ibv_reg_mr, remote Writes and Atomics
// require local write access. The error wraps [ErrInvalid] or [ErrUnsupported].
func CheckRegistration(a Access, flush bool) error {
	if err := CheckAccess(a, flush); err != nil {
		return err
	}
	if a&(RemoteWrite|RemoteAtomic) != 0 && a&LocalWrite == 0 {
		return fmt.Errorf("%w: remote write access needs LocalWrite", ErrInvalid)
	}
	return nil
}

// CheckMemory returns nil if mem has bytes that can be registered: at least one, and no more than the
// address space has from its address. The error wraps [ErrInvalid].
func CheckMemory(mem Memory) error {
	switch addr, n := mem.Addr(), mem.Len(); {
	case n < 1:
		return fmt.Errorf("%w: a region of %d bytes", ErrInvalid, n)
	case addr+uint64(n-1) < addr:
		return fmt.Errorf("%w: %d bytes at %#x exceed the address space", ErrInvalid, n, addr)
	}
	return nil
}
