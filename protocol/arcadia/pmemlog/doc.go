// Package pmemlog is a log of bytes in persistent memory, after libpmemlog 1.8: a baseline of the Arcadia
// paper (its table 1 and section 5). Comments cite the published source, src/libpmemlog/log.c of
// github.com/pmem/pmdk, by its functions; the code is our own.
//
// [Create] makes a pool, and [Open] opens one. [Pool.Append] adds bytes, durable when it returns:
// the bytes become persistent first, and then the write offset, which is one word. So a power
// failure leaves an append whole or not at all. [Pool.Walk] iterates over the bytes in chunks,
// [Pool.Tell] counts them, and [Pool.Rewind] discards them.
//
// There are no record boundaries, no checksums and no replicas. An application that needs boundaries or
// checksums stores them among its bytes.
//
// # Departures
//
//   - In libpmemlog a pool begins with a header of 4096 bytes, with a signature, which identifies a pool. Here the
//     three offsets must be plausible.
//   - The data begin at byte 64, and not at a page boundary, so that pools can be
//     small.
//   - The lock is a mutex, since package host has no read-write lock: Walk and Tell exclude one another.
//   - The offsets are checked whenever they are read. libpmemlog checks them when it opens the pool, and would write
//     outside the mapping if they were damaged later.
//   - Where memory cannot be read, libpmemlog is killed by a signal; here an error wraps [host.ErrMedia].
package pmemlog
