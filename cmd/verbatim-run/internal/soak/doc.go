// Package soak kills the processes of NCL, again and again, and looks whether
// anything that was acknowledged is lost.
//
// It starts a coordinator (or takes an etcd cluster), 2f+1 log peers and some to
// spare, and a writer, all of them processes of `verbatim-run ncl` on cards of this machine,
// and feeds the writer records. In each round it kills, with SIGKILL and at a random
// moment in the middle of the writes, the writer, or a peer and then the writer, or the
// writer while it recovers. Between the two the writer may have replaced the peer; then
// one more peer may die. The next writer waits for the session of the dead one to end,
// and recovers the file. Peers that were killed start again, empty, before that recovery
// or after it; f+1 that have the file, as the writer last said, are never killed. Then
// the file is read and deleted by `verbatim-run ncl recover --release`, no peer may lend
// anything any more, and the next one is created.
//
// What a recovery returns is compared with what the writer had acknowledged on its
// standard output when it died: every acknowledged record, in order, at most the one
// record more that it was at, and nothing that was not written. [expectation] is that
// rule.
//
// The seed decides all that is random here: records, victims, moments. The machine
// decides what the processes do meanwhile, so the same seed repeats the plan and not
// the run.
//
// config.go has the settings, plan.go what is random, expect.go the rule, process.go
// starts and kills, writer.go talks to a writer, run.go goes through the rounds.
package soak
