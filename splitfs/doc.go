// Package splitfs is the split file system of SplitFT (Luo et al., EuroSys 2024,
// 4.1): files with the semantics of POSIX, of which some live in the memory of log
// peers and all others in a directory.
//
//	fsys, err := splitfs.New(splitfs.Config{
//		Dir:      dir,                     // splitfs.OSDir("/mnt/cephfs/db")
//		Store:    splitfs.NCL(h, nclCfg),  // log peers
//		Patterns: splitfs.Presets["sqlite"],
//	})
//	f, err := fsys.Open("orders.db-wal", os.O_RDWR|os.O_CREATE, 0o644)
//	_, err = f.WriteAt(p, off)             // durable when it returns
//
// # Which files
//
// A new file goes to the peers if it is opened with [O_NCL] or if its name is one
// of Config.Patterns; any other goes to the directory. A file stays where it is,
// whatever it is renamed to. In the directory a stub of a line or two stands for
// each file on the peers, so that names, renames and permissions are those of the
// directory, and so is what is atomic about them.
//
// # What is promised
//
// A write to an ncl file that has returned is found again by whoever opens the
// file next, on any machine, as long as no more than f peers have failed; Sync has
// nothing to do. Of a write that was under way, an overwritten byte is the old or the
// new one, and what it appends is there whole or not at all. A truncation, a rename
// or an unlink that has returned has happened. Files of the directory promise what
// the directory does, after Sync.
//
// # How a file is laid out
//
// A region has a fixed size, and a file has not. What is appended goes into a frame of
// its own: a header with a checksum, and then the data, in one Record. The length
// of the file is that of its frames. A frame that another one follows is complete;
// the last one must have the right checksum. Overwriting is in place, again one
// Record, in which the headers in between are written as they are; before the last
// frame is overwritten an empty one is put behind it, for its checksum is wrong from
// then on. A file that is truncated to nothing begins again at the front with
// frames of a new generation. Whoever opens a file clears what a torn frame has left
// behind the last one, or a piece of the next frame could make it whole.
//
// A region that is full is replaced by a new one, larger if it needs to be, up to
// Config.MaxRegion; beyond that there is [ErrNoSpace].
//
// # Names of objects
//
// The region of a file is an object with a name that is never used again: the
// number of the mount and a counter. The stub of an object that is being made, was
// unlinked or was replaced is in the folder [Reserved], which New cleans up:
// nothing is leaked by a crash.
//
// # Where things are
//
// config.go has settings and errors, fs.go the names, objects.go the life of
// objects and their stubs, file.go open files, region.go the layout, dir.go and
// osdir.go the directory, ncl.go the peers, patterns.go which files. Package memdir is a
// directory for tests, with crashes; packages sqlite, pebblefs and fusefs bring
// programs here.
package splitfs
