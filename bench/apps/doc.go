// Package apps measures what NCL is to applications, as section 5 of SplitFT does:
// appending to a log file, and YCSB on Pebble and SQLite, each in three ways that take
// turns.
//
//		err := apps.Run(ctx, apps.Config{Config: bench.Config{Backend: bench.RDMA, StartPeer: start}, Dir: "/data"},
//			func(r apps.Row) error { ... })
//
//	  - strong: everything in a directory, and each write is followed by an fsync;
//	  - weak: the same without fsync, so that a crash loses what was acknowledged;
//	  - ncl: the log on three log peers, by package splitfs, and all else in the directory.
//
// The three do the same operations in the same order. A round is some operations of
// each; who begins changes from round to round. Rows have the median of the rounds'
// times of an operation, and ratios of neighbouring rounds, which is what a report
// should have: the times belong to the machine and the directory, which [Describe] names.
//
// In the simulator NCL has no time. There a run shows that all of it works.
//
// # Where things are
//
// config.go has the settings, run.go the rounds, writes.go, pebble.go and sqlite.go the
// applications, store.go NCL's store, machine.go where it runs and plot.go the drawing.
package apps
