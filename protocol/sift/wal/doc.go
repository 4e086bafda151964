// Package wal is the write-ahead log of Sift as data: how an entry is encoded, what the
// log zone of a memory node holds, and what a new coordinator makes of the logs of
// several nodes (Sift, 3.4.1). It is pure: no host, no card, no clock.
//
// # Entries
//
// A log has a fixed number of slots ([Shape]). An [Entry] with index i lies in slot
// i mod slots, and holds its index (3.4.1), the term of the coordinator that appended it,
// and a list of updates that commit together (3.3.2). A checksum covers all of it: an
// entry of which only a part has arrived is no entry. The paper names neither the term nor
// the checksum.
//
// # Recovery
//
// [Parse] finds the entries in a log zone. The log is the run of entries without a gap
// that ends with the latest, which is the one with the greatest term and, within it, the
// greatest index. [Choose] selects the log of the node that was brought up to date in the
// greatest term, and of those the longest, and says for each node what to do to it.
package wal
