// Package pebblecheck crashes Pebble with its log on Arcadia, in persistent memory: either its log file in
// splitfs/recordstore, or the log of splitfs/pebblelog in place of the file.
//
// Pebble uses goroutines, so it does not run in the simulator. Its persistent memory is internal/pmemhost, and its
// directory splitfs/memdir. While writers run, [Check] copies both at one moment, as a failure of the process or the
// power would leave them, and opens a database on the copies. The database must hold a prefix of each writer's batches,
// each batch whole, and every durable one. Check then writes to this database and crashes it again.
//
// The moment of a copy depends on the scheduling of goroutines: a clean result proves nothing, and a failure may not
// be reproducible.
package pebblecheck
