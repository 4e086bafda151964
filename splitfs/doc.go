// Package splitfs is the split file system of SplitFT (Luo et al., EuroSys 2024, 4.1):
// files with POSIX semantics. Some live in the memory of log peers and the
// others in a directory.
//
//	fsys, err := splitfs.New(splitfs.Config{
//		Dir:      dir, // splitfs.OSDir("/mnt/cephfs/db")
//		Store:    splitfs.NCL(h, nclCfg, 5*time.Second), // log peers, and how often to look after them
//		Patterns: splitfs.Presets["sqlite"],
//	})
//	f, err := fsys.Open("orders.db-wal", os.O_RDWR|os.O_CREATE, 0o644)
//	_, err = f.WriteAt(p, off)             // durable when it returns
//
// # Which files
//
// A new file goes to the peers if it is opened with [O_NCL] or if its name matches
// Config.Patterns; any other goes to the directory. Renaming a file does not move it.
// For each file on the peers there is a stub of a line or two in the directory, so
// names, renames and permissions are those of the directory, and equally atomic.
//
// # Guarantees
//
// A completed write to an ncl file is visible to the next process that opens it, on any
// machine, as long as at most f peers have failed; Sync has nothing to do. After a
// crash during a write, each overwritten byte is the old or the new one, and appended
// data is present as a whole or not at all. A completed truncation, rename or unlink is
// durable. Files of the directory have the directory's guarantees, after Sync.
//
// # How a file is laid out
//
// A region has a fixed size; a file does not. Each append has its own frame: a header
// with a checksum, and then the data, in one Record. The length of the file is the total
// length of its frames. A frame that is followed by another is complete; the last one
// must have the right checksum. An overwrite is in place, again with one Record, which
// rewrites the headers in between unchanged. It makes the checksum of the frame wrong,
// so an empty frame is appended before the last frame is overwritten. A file that is
// truncated to zero length restarts at the beginning with frames of a new generation.
// Opening a file clears the remains of a torn frame after the last one; otherwise a
// piece of the next frame could complete the torn frame.
//
// A full region is replaced by a new one, larger if necessary, up to Config.MaxRegion;
// beyond that, writes fail with [ErrNoSpace].
//
// # Names of objects
//
// The region of a file is an object with a name that is never reused: the number of the
// mount and a counter. The stub of an object that is being created, was unlinked or was
// replaced is in the folder [Reserved], which New cleans up: a crash leaks nothing.
//
// # Where things are
//
// config.go has settings and errors, fs.go the names, objects.go the life of objects
// and their stubs, file.go open files, region.go the layout, dir.go and osdir.go the
// directory, ncl.go the peers, patterns.go the choice of files. Package memdir is a
// directory for tests, with crashes; packages sqlite, pebblefs and fusefs connect
// programs.
package splitfs
