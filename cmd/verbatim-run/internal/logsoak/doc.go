// Package logsoak kills the processes of Arcadia, again and again, and checks that no forced record is lost.
//
// It starts a coordinator, two backups and a primary, as processes of `verbatim-run` over TCP. The primary and each
// backup have separate directories for persistent memory. In each round logsoak feeds records to the primary,
// may kill a backup, and then kills the primary, with SIGKILL in the middle of the writes. It restarts a killed
// backup with its old memory. If no backup was killed, it sometimes deletes the primary's memory. Then
// `verbatim-run arcadia dump` recovers the log: it must hold all acknowledged records, in order, and no record that
// was not written.
//
// With a frequency F, fewer than F of the last acknowledged records may be missing.
package logsoak
