package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// Errors; test for them with errors.Is.
var (
	// ErrUnknown: the operation may have been carried out, or may be later, until the next
	// put or delete is acknowledged. With every other error it was not, and will not be.
	ErrUnknown = errors.New("sift/kv: the operation may have been carried out")
	// ErrNotLeading: the store has stopped, because its node is no longer the coordinator, or the
	// node has no store.
	ErrNotLeading = errors.New("sift/kv: not the coordinator")
	// ErrFull: the key is new, and no data block is free.
	ErrFull = errors.New("sift/kv: the store is full")
	// ErrTooLong: the key is empty or too long, or the value is too long.
	ErrTooLong = errors.New("sift/kv: key or value outside the limits")
	// ErrCorrupt: the memory does not hold a store with this configuration.
	ErrCorrupt = errors.New("sift/kv: the memory holds no such store")
	// ErrConfig: a configuration exceeds the limits.
	ErrConfig = errors.New("sift/kv: bad configuration")
	// ErrMalformed: received bytes are malformed.
	ErrMalformed = errors.New("sift/kv: malformed message")
	// ErrUnavailable: no node has answered as the coordinator.
	ErrUnavailable = errors.New("sift/kv: no coordinator")
)

// Limits of a [Config].
const (
	MaxKey   = 1 << 10 // bytes of a key
	MaxValue = 1 << 19 // bytes of a value
)

// Config is the shape of a store. All nodes and clients of a group have the same Config, except
// for the cache.
type Config struct {
	Key    int // the longest key in bytes, at least 1; the paper has 32 (6.2)
	Value  int // the longest value in bytes, at least 0; the paper has 992
	Index  int // slots of the index table; the paper keeps it at most an eighth full
	Blocks int // data blocks, one for each key
	Log    int // puts and deletes that may be logged and not applied; the paper has 65536
	Cache  int // keys in the coordinator's cache, at least 1
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	switch {
	case c.Key < 1 || c.Key > MaxKey || c.Value < 0 || c.Value > MaxValue:
		return fmt.Errorf("%w: keys of %d bytes, values of %d: 1 to %d, and up to %d", ErrConfig, c.Key, c.Value, MaxKey, MaxValue)
	case c.Index < 1 || c.Blocks < 1 || c.Log < 1 || c.Cache < 1:
		return fmt.Errorf("%w: %d slots, %d blocks, a log of %d, a cache of %d: at least one each", ErrConfig, c.Index, c.Blocks, c.Log, c.Cache)
	case c.Index > sift.MaxSize || c.Blocks > sift.MaxSize || c.Log > sift.MaxSize || c.Cache > math.MaxInt32:
		return fmt.Errorf("%w: %d slots, %d blocks, a log of %d: together at most %d bytes", ErrConfig, c.Index, c.Blocks, c.Log, sift.MaxSize)
	case c.size() > sift.MaxSize || c.directSize() > sift.MaxSize:
		return fmt.Errorf("%w: %d bytes of memory and %d of log: at most %d each", ErrConfig, c.size(), c.directSize(), sift.MaxSize)
	}
	return nil
}

// Layout is the replicated memory that the store needs, with this many slots of the memory's own
// log. Its Use is a hash of c, without the cache: nodes with different stores refuse each other.
func (c *Config) Layout(slots int) sift.Layout {
	return sift.Layout{Size: c.size(), Direct: c.directSize(), Block: c.blockSize(), Slots: slots, Entry: c.largestUpdate(), Use: c.print()}
}

// print is a hash of everything that all nodes must agree on. Different stores may need memories of one shape.
func (c *Config) print() uint64 {
	h := fnv.New64a()
	for _, n := range []int{c.Key, c.Value, c.Index, c.Blocks, c.Log} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) // it never fails
	}
	return h.Sum64()
}

// The replicated memory (4.1): the number of the last operation that was applied, the
// bitmap, the index table, and the data blocks. The log of the store lies in the direct zone.
// The paper has no such number: see [choose].
//
// All of it is zero in a store without keys.
const (
	appliedAt = 0
	bitmapAt  = 8
	wordSize  = 8
)

func (c *Config) indexAt() int      { return bitmapAt + wordSize*words(c.Blocks) }
func (c *Config) slotAt(i int) int  { return c.indexAt() + wordSize*i }
func (c *Config) indexEnd() int     { return c.slotAt(c.Index) }
func (c *Config) blockAt(b int) int { return c.blocksAt() + b*c.blockSize() }
func (c *Config) blocksAt() int {
	return (c.indexEnd() + c.blockSize() - 1) / c.blockSize() * c.blockSize()
}
func (c *Config) size() int            { return c.blockAt(c.Blocks) }
func (c *Config) blockSize() int       { return valueAt(c.Key) + padded(c.Value) }
func (c *Config) entrySize() int       { return entryHeader + padded(c.Key+c.Value) }
func (c *Config) directSize() int      { return c.Log * c.entrySize() }
func (c *Config) entryAt(i uint64) int { return int(i%uint64(c.Log)) * c.entrySize() }

// largestUpdate is the size of the longest list of updates, in the memory's log: the block of a
// new key, the pointer to it, its bit, and the number of the operation.
func (c *Config) largestUpdate() int { return 8 + c.blockSize() + 3*(8+wordSize) }

// words is how many words a bitmap of n bits has.
func words(n int) int { return (n + 63) / 64 }

func padded(n int) int { return (n + 7) &^ 7 }

// checkKey checks a key, and checkValue a value. The errors wrap [ErrTooLong].
func (c *Config) checkKey(key []byte) error {
	if len(key) < 1 || len(key) > c.Key {
		return fmt.Errorf("%w: a key of %d bytes: 1 to %d", ErrTooLong, len(key), c.Key)
	}
	return nil
}

func (c *Config) checkValue(value []byte) error {
	if len(value) > c.Value {
		return fmt.Errorf("%w: a value of %d bytes: at most %d", ErrTooLong, len(value), c.Value)
	}
	return nil
}
