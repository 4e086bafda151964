// Package apps measures the effect of NCL on applications, as in section 5 of SplitFT:
// appending to a log file, and YCSB on Pebble and SQLite, each in three modes that
// alternate.
//
//		err := apps.Run(ctx, apps.Config{Config: bench.Config{Backend: bench.RDMA, StartPeer: start}, Dir: "/data"},
//			func(r apps.Row) error { ... })
//
//	  - strong: everything in a directory, with an fsync after each write;
//	  - weak: the same without fsync, so that a crash loses acknowledged writes;
//	  - ncl: the log on three log peers, by package splitfs, and all else in the directory.
//
// The three modes run the same operations in the same order. A round runs some
// operations in each mode; the first mode changes from round to round. Rows have the
// median time of an operation over the rounds, and ratios of neighbouring rounds.
// Report the ratios: the times depend on the machine and the directory, which
// [Describe] names.
//
// Time in the simulator is not real; there a run only shows that everything works.
//
// # Where things are
//
// config.go has the settings, run.go the rounds, writes.go, pebble.go and sqlite.go the
// applications, store.go NCL's store, machine.go the machine and plot.go the drawing.
package apps
