package arcadia

import "fmt"

// The paper's immediate is the length to force, and the backup takes the address from the completion event
// (3). A completion in verbs has no address, but it has the length. So here the immediate is the start of the
// range, in words, and the completion has its length.

const word = 8

// immediate encodes a range of a copy of size bytes. The error wraps ErrNonsense.
func immediate(off, n, size int) (uint32, error) {
	if off < 0 || off%word != 0 || n <= 0 || off > size-n || uint64(off/word) > 1<<32-1 {
		return 0, fmt.Errorf("%w: %d bytes at %d of %d have no immediate", ErrNonsense, n, off, size)
	}
	return uint32(off / word), nil
}

// written returns the range of an immediate and a completion. The error wraps ErrNonsense.
func written(imm uint32, n uint32, size int) (off, length int, err error) {
	off, length = int(imm)*word, int(n)
	if length == 0 || off > size-length {
		return 0, 0, fmt.Errorf("%w: immediate %d and %d bytes, for a copy of %d bytes", ErrNonsense, imm, n, size)
	}
	return off, length, nil
}
