// Package recordstore keeps the objects of a split file system in an arcadia.Log, in persistent memory. So
// programs that write files, such as SQLite and Pebble, can keep their logs on Arcadia.
//
//	log, err := arcadia.Open(h, arcadia.Config{Name: "files", Size: 1 << 30})
//	store, err := recordstore.Open(h, log)
//	fsys, err := splitfs.New(splitfs.Config{Dir: dir, Store: store, Patterns: splitfs.Presets["sqlite"]})
//
// # The log
//
// A record is either the birth of an object, with its name and size, or data written at an offset of an object.
// The content of an object is the result of its records, in the order of the log. Record returns when its data,
// and all records before them, are durable. Cleaning up the birth of an object deletes the object: data records
// without a birth belong to no object.
//
// # Space
//
// The ring of a log frees space only at its beginning. When space is short, the store cleans up the first record. If
// the object still needs bytes of this record, the store first appends their current content again. So overwritten data
// never fills the log, as in a log-structured file system (Rosenblum and Ousterhout 1992).
package recordstore
