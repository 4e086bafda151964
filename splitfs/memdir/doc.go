// Package memdir is a directory in memory with realistic crashes: any part of the data
// that was not synced can be lost.
//
// A crash keeps a prefix of the changes to names, like a journaling file system;
// SyncDir makes all of them durable. Writes to a file that was not synced are each
// kept, lost or kept in part, in sectors of 512 bytes. The content of a synced file is
// durable, its name only after SyncDir.
//
// A [Dir] is a splitfs.Dir. It belongs to one task at a time.
package memdir
