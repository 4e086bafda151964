// Package pebblefs keeps Pebble's log on log peers: it is a vfs.FS of
// github.com/cockroachdb/pebble on a split file system with the patterns of
// splitfs.Presets["pebble"].
//
//	db, err := pebble.Open("db", &pebble.Options{FS: pebblefs.New(fsys)})
//
// Names are as in the file system; a leading slash is dropped. There are no hard
// links, so a checkpoint copies files. A Lock applies only within the process.
package pebblefs
