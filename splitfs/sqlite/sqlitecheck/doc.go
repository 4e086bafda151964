// Package sqlitecheck crashes SQLite at every point of a workload, in the simulator:
// real SQL transactions, the write-ahead log on log peers by protocol/ncl, the
// database in a directory that loses what was not synced. After each crash another
// machine opens the database. It must pass SQLite's integrity check and hold every
// transaction that was committed, whole, and nothing else but possibly the one under
// way.
//
// # Crash points
//
// [Check] first makes the run without a crash and counts its steps: a task's step
// ends where it waits, which is for a completion, an answer of a peer or of the
// controller, and before each change of the directory. Then it makes the same run
// again for each step, and crashes the application there. Which writes in flight
// have landed on which peer by then, and what the directory has lost, is drawn
// from a generator that Config.Seed and the point determine. In every other of these
// runs the application crashes once more while it recovers, and in every third one
// of the peers crashes somewhere. With the log on Arcadia there are no peers; each crash
// is a failure of the process or of the power.
//
// # Determinism
//
// A point and a seed make the same run. SQLite asks its runtime for random bytes,
// which are part of the log; while this package runs they come from a stream of its
// own (random.go). The workload asks for no time.
package sqlitecheck
