// Package pebblelog is Pebble with an Arcadia log in place of its write-ahead log. Arcadia's paper moves
// applications to its log in this way: they reserve a record, fill it in place, complete it, and force it when their
// policy says so, and concurrent writers exclude each other in the first step only.
//
//	log, err := arcadia.Open(h, arcadia.Config{Name: "db", Size: 1 << 30})
//	db, err := pebblelog.Open("db", log, arcadia.Frequency(8), &pebble.Options{})
//	lsn, err := db.Apply(batch)
//
// # What a crash leaves
//
// Open brings the batches back that the log has and the tables of the database have not, in the order of their
// LSNs. The database then holds the first of all batches, each whole: at least those that were forced, and those
// that are in tables. With arcadia.Frequency(F) and T writers at most F*T batches that Apply has returned for are
// missing; with arcadia.Frequency(1) none is.
//
// With each batch the database writes its LSN under [Key], in its tables too. So Open knows which batches they have. It takes back
// that number if the log has lost batches that the tables have, for their LSNs are given out again.
//
// # Space
//
// Pebble says when it has written a table. The records of all batches in tables are then cleaned up by the next
// Apply. If the log is full Apply has Pebble write a table.
//
// Package pebblefs is the other way: Pebble as it is, with its log in a file of a split file system.
package pebblelog
