// Package model specifies correct services, to judge a run of a replication protocol.
//
// It answers two different questions.
//
// # Did the clients see one copy of the data?
//
// A replicated service is linearizable if every client could believe that there is a
// single, unreplicated copy which executes one operation at a time. To check a run:
//
//   - record the clients' operations in a [History]: [History.Invoke] when an operation
//     starts, [History.Return] when its answer arrives, and [History.Unknown] or
//     [History.Crash] when it never will;
//   - choose the sequential specification of the service, a [Spec]: [Register],
//     [KV], [AppendLog], [File] or [Memory];
//   - call [Check], which searches for an order of the operations that the
//     specification accepts, with github.com/anishathalye/porcupine.
//
// The answer is a [Verdict]: Ok, Illegal, or Unknown. The problem is NP-hard, so the
// search has a [Budget], and exhausting it is neither Ok nor Illegal. The budget counts
// steps and bytes rather than seconds, so the same history has the same verdict on
// every machine. [Explain] describes an Illegal one.
//
// # Did recovery return what it promised?
//
// A near-compute log (NCL, from the SplitFT paper, EuroSys 2024) is a file in the
// memory of remote peers that its one application reads back after a crash. Its
// guarantee is not linearizability: an unacknowledged write may be recovered whole,
// torn, or not at all. [LogFile] checks exactly that guarantee, one event at a time and
// cheaply enough to run inside a state-space search. Report each write
// ([LogFile.Begin]), each success ([LogFile.Ack]) and the content that each recovery
// returned ([LogFile.Recovered]). The last one returns nil or a [*Violation] whose
// Class names the broken promise.
//
// [RecordLog] does the same for a log of numbered records that tasks reserve, complete, force
// and clean up by themselves (Arcadia).
//
// # Where things are
//
// history.go has the recorder, spec.go the interface of a specification, check.go the
// search and its budget, explain.go the text of a failure; register.go, kv.go,
// appendlog.go, file.go and memory.go the specifications; recovery.go the recovery invariant,
// compare.go its arithmetic and violation.go its errors; recordlog.go the log of records.
//
// Nothing here reads a clock (except for [Budget.Wall], off by default), draws random
// numbers or panics: misuse returns an error.
package model
