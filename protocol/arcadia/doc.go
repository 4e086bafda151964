// Package arcadia is a log of records in persistent memory, after "Arcadia: A Fast and Reliable
// Persistent Memory Replicated Log" (see docs/arcadia.md for what is built and where it departs from
// the paper). Numbers in comments are sections of the paper.
//
// # The log
//
// [Open] opens a log, or creates it, and recovers what it holds. An application reserves a record
// ([Log.Reserve]), fills it in place or with [Record.Copy], completes it ([Record.Complete]), and makes it
// durable, with all before it, when it likes ([Record.Force]); [Log.Append] does all of that. Only Reserve and Force
// exclude each other, so tasks fill their records at the same time. [Log.Each] goes through the log, and
// [Log.Cleanup] gives the space of a record back.
//
// A [Policy] decides which records are forced: each, those whose LSN a [Frequency] divides, or every n-th
// that is complete ([Group]).
//
// # Copies on other hosts
//
// With [Config].Backups the log has copies on hosts that run [ServeBackup]. A force writes to all of them, and is done
// when those that have not failed have persisted it, W copies at least. [Open] recovers from R of them, repairs those that are
// behind, and fences an earlier primary off (4.2). What this host has is one of the copies, unless RemoteOnly is set.
//
// # The primitives
//
// They can be used for themselves, on any [Store]: persistence ([Local]), replication ([Replicas], by [Connect]), integrity
// ([Reliable]) and atomicity ([Atomic]).
package arcadia
