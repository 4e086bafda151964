// Package memdir is a directory in memory that crashes as a file system may: of
// what was not synced, any part can be lost.
//
// The names of files change in an order, of which a crash keeps a beginning, as a
// file system with a journal does; SyncDir makes all of them durable. Writes to a
// file that was not synced are kept, lost or kept in part, each for itself; a part
// ends at a sector of 512 bytes. The content of a file that was synced is durable,
// its name only after SyncDir.
//
// A [Dir] is a splitfs.Dir. It belongs to one task at a time.
package memdir
