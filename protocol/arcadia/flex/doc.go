// Package flex is the log of FLEX in RocksDB, a baseline of the Arcadia paper (its table 1 and section 5).
// FLEX writes a file in persistent memory without the kernel; the length of the file precedes the data.
// Comments cite the published source, env/env_dcpmm.cc of github.com/pmem/pmem-rocksdb, by its methods; the
// code is our own.
//
// A [File] is a word with the length, and data. [File.Append] copies the data, fences, stores the
// length and fences again: so a power failure leaves an append whole or not at all. Above it, a
// [Log] appends each record in two parts, as RocksDB does: a header with length and checksum, and
// the payload. A power failure between them leaves a header without its payload at the end. [Open]
// compares checksums, and the log stops before the first record that does not match.
//
// There are no replicas: a record that fails its checksum is lost, and so is everything
// after it.
//
// # Departures
//
//   - The capacity is fixed. The original grows by fallocate and mmap (DCPMMWritableFile::Append), and the file system
//     makes the new size durable; that is not modelled.
//   - RocksDB never appends to a log that it has recovered: it begins a new file. Here the log
//     continues in the same file, which File.Truncate cuts after its last whole record.
//   - Non-temporal stores are ordinary ones that are flushed at once: [host.Region] has no others.
//   - A record is not fragmented into blocks, and its header has 8 bytes instead of 7: there is one type of record. The
//     checksum covers length and payload, where RocksDB's covers type and payload.
//   - Where memory cannot be read, the original is killed by a signal; here an error wraps [host.ErrMedia].
package flex
