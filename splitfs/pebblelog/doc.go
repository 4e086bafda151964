// Package pebblelog is Pebble with an Arcadia log in place of its write-ahead log. Arcadia's paper ports
// applications to its log in this way: a writer reserves a record, fills it in place, completes it, and forces it
// according to a policy. Writers exclude each other only in the first step.
//
//	log, err := arcadia.Open(h, arcadia.Config{Name: "db", Size: 1 << 30})
//	db, err := pebblelog.Open("db", log, arcadia.Frequency(8), &pebble.Options{})
//	lsn, err := db.Apply(batch)
//
// # What a crash leaves
//
// Open replays, in the order of their LSNs, the batches that are in the log but not in tables. The database then
// holds a prefix of all batches, each of them whole. The prefix includes every forced batch and every batch in
// tables. With arcadia.Frequency(F) and T writers, at most F*T acknowledged batches are missing; with
// arcadia.Frequency(1) none is.
//
// Each batch also sets [Key] to its LSN, so the tables record which batches they hold. If the log has lost batches
// that are in tables, the log assigns their LSNs again. Open therefore resets Key to the last LSN of the log.
//
// # Space
//
// Pebble reports each flush. The next Apply then cleans up the records of all batches in tables. If the log is
// full, Apply makes Pebble flush.
//
// Package pebblefs is the alternative: unmodified Pebble, whose log is a file in a split file system.
package pebblelog
