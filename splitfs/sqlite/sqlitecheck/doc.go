// Package sqlitecheck crashes SQLite at every point of a workload, in the simulator:
// real SQL transactions, the write-ahead log on log peers by protocol/ncl, the
// database in a directory that loses what was not synced. After each crash another
// machine opens the database. The database must pass SQLite's integrity check. It must
// hold every committed transaction, whole, and nothing else except possibly the
// transaction in progress.
//
// # Crash points
//
// [Check] first executes the run without a crash and counts its steps. A step of a task
// finishes where the task waits for a completion or for an answer from a peer or the
// controller, and before each change of the directory. Then Check repeats the run once
// for each step, and crashes the application there. A generator, seeded from Config.Seed
// and the crash point, draws which writes in flight have landed on which peer by then, and
// what the directory has lost. In every second run the application crashes again during
// recovery, and in every third run one of the peers crashes at some step. With
// the log on Arcadia there are no peers; each crash is a failure of the process or of
// the power.
//
// # Determinism
//
// The same crash point and seed give the same run. SQLite asks its runtime for random
// bytes, which are part of the log; while this package runs, they come from the
// package's own stream (random.go). The workload does not read the clock.
package sqlitecheck
