// Package arcadia is a log of records in persistent memory, after "Arcadia: A Fast and Reliable
// Persistent Memory Replicated Log" (see docs/arcadia.md for what is built and where it departs from
// the paper). Numbers in comments are sections of the paper.
//
// # The log
//
// [Open] opens a log, or creates it, and recovers its records. An application reserves a record
// ([Log.Reserve]), fills it in place or with [Record.Copy], and completes it ([Record.Complete]).
// At any later time it makes the record and all records before it durable ([Record.Force]).
// [Log.Append] combines these steps. Only Reserve and Force exclude each other, so tasks fill their
// records at the same time. [Log.Each] iterates over the log, and [Log.Cleanup] frees the space of
// a record.
//
// A [Policy] decides which records are forced: all, those whose LSN is a multiple of a [Frequency],
// or every n-th completed record ([Group]).
//
// # Copies on other hosts
//
// With [Config].Backups the log has copies on hosts that run [ServeBackup]. The memory of this host is one of the
// copies, unless RemoteOnly is set. A force writes to all copies and returns when each of them has persisted the range
// or failed; at least W must remain. [Open] recovers the log from at least R copies, repairs the copies that are
// behind, and fences an earlier primary (4.2).
//
// # The primitives
//
// Each can be used alone, on any [Store]: persistence ([Local]), replication ([Replicas], see [Connect]),
// integrity ([Reliable]) and atomicity ([Atomic]).
package arcadia
