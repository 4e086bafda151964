// Package pebblecheck crashes Pebble with its log in persistent memory, on Arcadia: its log file by
// splitfs/recordstore, or the log of splitfs/pebblelog in place of it.
//
// Pebble has goroutines, so it does not run in the simulator. Its memory is that of internal/pmemhost, and its
// directory splitfs/memdir. While writers are at work [Check] copies both, at one moment, as the process or the power
// fails then, and another database opens the copies: it must hold every batch that was durable, and of each writer
// the first batches, whole. It is used and crashes again. When a copy is made depends on how goroutines are scheduled: a clean
// result proves nothing, and a failure may not come again.
package pebblecheck
