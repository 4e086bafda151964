// Package sqlite lets SQLite keep its write-ahead log on log peers: it is a VFS for
// github.com/ncruces/go-sqlite3 on a split file system.
//
//	v := sqlite.Register("split", fsys)
//	defer v.Unregister()
//	db, err := sqlite3.Open(v.URI("orders.db"))
//	err = db.Exec(sqlite.Setup)
//
// The log of a database goes to the peers whatever the patterns of the file system
// are, the database itself to the directory.
//
// # Locks
//
// One connection has a database at a time; others get SQLITE_BUSY. There is no
// shared memory, so a database in WAL mode must be in exclusive locking mode, which
// [Setup] sees to.
//
// # Panics
//
// A file system may end its caller by a panic, as the simulator does with the
// tasks of a machine that crashes. It must not pass through SQLite, whose runtime
// would take it for a failure of its own. The VFS keeps it, and from then on answers
// every call with an I/O error; whoever called SQLite closes the connection and lets
// [VFS.Resume] raise it again.
package sqlite

import _ "github.com/ncruces/go-sqlite3/embed" // SQLite itself
