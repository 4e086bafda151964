// Package logsoak kills the processes of Arcadia, again and again, and looks whether anything that was forced is lost.
//
// It starts a coordinator and two backups, and a primary, all of them processes of `verbatim-run` over TCP, each with a directory
// of its own for its persistent memory, and feeds the primary records. In each round it kills, with SIGKILL and in the
// middle of the writes, a backup or none, and then the primary; sometimes the primary's copy is lost with it. The backup starts again
// with what it had. Then `verbatim-run arcadia dump` recovers the log: it must have all records that were acknowledged, in order, and of those
// that were not at most the one that the primary was at.
//
// With a frequency F the last F records may be missing although they were acknowledged.
package logsoak
