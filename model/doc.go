// Package model says what a correct service does, so that a run of a
// replication protocol can be judged against it.
//
// It answers two different questions.
//
// # Did the clients see one copy of the data?
//
// A replicated service is linearizable when every client could believe that
// there is a single, unreplicated copy which does one operation at a time. To
// ask that of a run:
//
//   - record what the clients did in a [History]: [History.Invoke] when an
//     operation starts, [History.Return] when its answer arrives, and
//     [History.Unknown] or [History.Crash] when it never will;
//   - pick the sequential specification of the service, a [Spec]: [Register],
//     [KV], [AppendLog] or [File];
//   - call [Check], which searches for an order of the operations that the
//     specification accepts. The search is that of
//     github.com/anishathalye/porcupine.
//
// The answer is a [Verdict]: Ok, Illegal, or Unknown. The problem is NP-hard,
// so the search has a [Budget], and running out of it is neither Ok nor Illegal.
// The budget counts steps and bytes rather than seconds, so the same history
// has the same verdict on every machine. [Explain] puts an Illegal one in words.
//
// # Did recovery return what it promised?
//
// A near-compute log (NCL, from the SplitFT paper, EuroSys 2024) is a file in
// the memory of remote peers which its one application reads back after a
// crash. Its promise is not linearizability: an unacknowledged write may come
// back whole, torn, or not at all. [LogFile] checks exactly that promise, one
// event at a time and cheaply enough to run inside a state-space search. Tell
// it of each write ([LogFile.Begin]), each success ([LogFile.Ack]) and the
// content each recovery returned ([LogFile.Recovered]); the last one answers
// nil or a [*Violation] whose Class names the promise that broke.
//
// # Where things are
//
// history.go has the recorder, spec.go what a specification is, check.go the
// search and its budget, explain.go the words for a failure; register.go,
// kv.go, appendlog.go and file.go the specifications; recovery.go the recovery
// invariant, compare.go its arithmetic and violation.go its errors.
//
// Nothing here reads a clock (but for [Budget.Wall], off by default), starts
// a random generator or panics: bad use comes back as an error.
package model
