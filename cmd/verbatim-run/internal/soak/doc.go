// Package soak kills the processes of NCL, again and again, and checks that no
// acknowledged record is lost.
//
// It starts a coordinator (or uses an etcd cluster), 2f+1 log peers, some spare ones, and a
// writer. All of them are processes of `verbatim-run ncl` on cards of this machine. It feeds
// records to the writer. In each round it sends SIGKILL at a random moment in the middle of
// the writes: to the writer, or to a peer and then to the writer, or to the writer while it
// recovers. If a peer dies first, the writer may replace it before the writer itself is
// killed; then one more peer may die. The next writer waits until the session of the dead
// one has expired, and recovers the file. Killed peers restart, empty, before or after that
// recovery. f+1 peers that have the file, by the last report of the writer, are never
// killed. After the last round of a file, `verbatim-run ncl recover --release` reads and
// deletes the file. Then no peer may lend any memory, and the next file is created.
//
// The result of a recovery is compared with the acknowledgements that the writer
// printed on its standard output before it died. A recovery must return every
// acknowledged record, in order, at most one more, which the writer had in progress,
// and nothing that was not written. [expectation] implements this rule.
//
// The seed determines everything that is random here: records, victims, moments. The
// machine determines what the processes do meanwhile, so the same seed repeats the plan
// but not the run.
//
// config.go has the settings, plan.go the random choices, expect.go the rule, process.go
// starts and kills, writer.go communicates with a writer, run.go runs the rounds.
package soak
