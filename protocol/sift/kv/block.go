package kv

import (
	"encoding/binary"
	"fmt"
)

// A data block (4.1) has the pointer to the next one of its chain, the lengths of key and
// value, the key, and the value. A pointer is the number of a block, from 1; 0 ends the chain.
const (
	nextAt    = 0
	lengthsAt = 8
	keyAt     = 16
)

// valueAt is where the value of a block lies, if keys have at most n bytes.
func valueAt(n int) int { return keyAt + padded(n) }

// encodeBlock encodes a block that ends its chain into b, of a block's size. It returns how many
// bytes it takes.
func (c *Config) encodeBlock(b, key, value []byte) int {
	clear(b)
	binary.LittleEndian.PutUint32(b[lengthsAt:], uint32(len(key)))
	binary.LittleEndian.PutUint32(b[lengthsAt+4:], uint32(len(value)))
	copy(b[keyAt:], key)
	return valueAt(c.Key) + padded(copy(b[valueAt(c.Key):], value))
}

// block is a data block. Key and value alias the bytes that it was decoded from.
type block struct {
	next       uint64
	key, value []byte
}

// decodeBlock decodes a block in use. The error wraps [ErrCorrupt].
func (c *Config) decodeBlock(b []byte) (block, error) {
	if len(b) != c.blockSize() {
		return block{}, fmt.Errorf("%w: a block of %d bytes, not %d", ErrCorrupt, len(b), c.blockSize())
	}
	x := block{next: binary.LittleEndian.Uint64(b[nextAt:])}
	k, v := binary.LittleEndian.Uint32(b[lengthsAt:]), binary.LittleEndian.Uint32(b[lengthsAt+4:])
	if k < 1 || int64(k) > int64(c.Key) || int64(v) > int64(c.Value) || x.next > uint64(c.Blocks) {
		return block{}, fmt.Errorf("%w: a block with a key of %d bytes, a value of %d, and the next block %d of %d", ErrCorrupt, k, v, x.next, c.Blocks)
	}
	at := valueAt(c.Key)
	x.key, x.value = b[keyAt:keyAt+int(k)], b[at:at+int(v)]
	return x, nil
}
