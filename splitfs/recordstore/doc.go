// Package recordstore keeps the objects of a split file system in a log of records in persistent memory,
// which is an arcadia.Log. So programs that know of files, as SQLite and Pebble, have their logs on Arcadia.
//
//	log, err := arcadia.Open(h, arcadia.Config{Name: "files", Size: 1 << 30})
//	store, err := recordstore.Open(h, log)
//	fsys, err := splitfs.New(splitfs.Config{Dir: dir, Store: store, Patterns: splitfs.Presets["sqlite"]})
//
// # What is in the log
//
// A record is the birth of an object, with its name and size, or data that were written to a place of one.
// What an object holds is what its records say, in the order of the log. Record returns when its data are forced,
// with all before. An object is deleted by cleaning up its birth: data without one are of no object.
//
// # Space
//
// The ring of a log gets its space back from its beginning only. When space is short, the first record goes: if all
// its bytes were written again since, or its object was deleted, it is cleaned up; else what the object holds
// there now is appended again before that. So the log has room for whatever fits into it, as in a
// log-structured file system (Rosenblum and Ousterhout 1992).
package recordstore
