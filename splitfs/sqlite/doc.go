// Package sqlite lets SQLite keep its write-ahead log on log peers: it is a VFS for
// github.com/ncruces/go-sqlite3 on a split file system.
//
//	v := sqlite.Register("split", fsys)
//	defer v.Unregister()
//	db, err := sqlite3.Open(v.URI("orders.db"))
//	err = db.Exec(sqlite.Setup)
//
// The log of a database is stored on the peers, whatever the patterns of the file
// system are; the database itself is stored in the directory.
//
// # Locks
//
// One connection at a time can use a database; others get SQLITE_BUSY. There is no
// shared memory, so a database in WAL mode must be in exclusive locking mode, which
// [Setup] selects.
//
// # Panics
//
// A file system may terminate its caller with a panic, as the simulator terminates the
// tasks of a machine that crashes. The panic must not pass through SQLite, whose
// runtime would mistake it for its own failure. The VFS saves the panic, and from then
// on returns an I/O error from every call. The caller of SQLite closes the connection
// and calls [VFS.Resume], which raises the panic again.
package sqlite

import _ "github.com/ncruces/go-sqlite3/embed" // SQLite itself
