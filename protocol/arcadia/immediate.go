package arcadia

import "fmt"

// The paper's immediate is the length to force, and the backup takes the address from the completion event
// (3). No verbs give an address there; but they give the length. So ours is the other way round: the immediate
// is where the range begins, in words, and the completion says how long it is.

const word = 8

// immediate is that of a range of a copy of size bytes. The error wraps ErrNonsense.
func immediate(off, n, size int) (uint32, error) {
	if off < 0 || off%word != 0 || n <= 0 || off > size-n || uint64(off/word) > 1<<32-1 {
		return 0, fmt.Errorf("%w: no immediate is %d bytes at %d of %d", ErrNonsense, n, off, size)
	}
	return uint32(off / word), nil
}

// written is the range that an immediate and a completion name. The error wraps ErrNonsense.
func written(imm uint32, n uint32, size int) (off, length int, err error) {
	off, length = int(imm)*word, int(n)
	if length == 0 || off > size-length {
		return 0, 0, fmt.Errorf("%w: the immediate %d, and %d bytes, of a copy of %d", ErrNonsense, imm, n, size)
	}
	return off, length, nil
}
