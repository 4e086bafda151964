package strace

import (
	"fmt"
	"path"
	"strings"
)

// Kind is what an Op does to the log file.
type Kind uint8

// The kinds of Op. The zero Kind is not valid.
const (
	// Create: the name comes into being, with an empty file.
	Create Kind = iota + 1
	// Open: the name, which exists, is opened for writing once more. The
	// content does not change.
	Open
	// Write: Data is at Offset from now on.
	Write
	// Truncate: the file is Size bytes long; it is cut, or grows by zeros.
	Truncate
	// Sync: all Ops before it are durable (fsync, fdatasync, or a write
	// through a descriptor opened with O_SYNC or O_DSYNC).
	Sync
	// Rename: the file gives up the log's name and is called To from now on.
	Rename
	// Replace: another file took the log's name, by rename or link. The whole
	// content is Data now, Size bytes long.
	Replace
	// Unlink: the log's name is removed.
	Unlink
)

var kindNames = [...]string{"invalid", "create", "open", "write", "truncate", "sync", "rename", "replace", "unlink"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Op is one effect on the log file.
type Op struct {
	Kind   Kind
	Offset int64  // Write: where Data begins
	Data   []byte // Write, Replace
	Size   int64  // Truncate, Replace: length of the file afterwards
	To     string // Rename: the new name
	Line   int    // line of the trace on which the call ended
}

// FileInfo counts what a trace does to one name.
type FileInfo struct {
	Path   string
	Writes int   // Write and Replace ops
	Syncs  int   // Sync ops
	Bytes  int64 // data of the Write ops
}

// Trace is the workload of one log file.
type Trace struct {
	// File is the log's name, as absolute as the trace shows it.
	File string
	// Ops are the effects on it in the order in which the calls ended.
	Ops []Op
	// Files are all files that were written, the likeliest log first (see
	// Options.File for the order).
	Files []FileInfo
	// Lines is the length of the trace.
	Lines int
	// Notes are assumptions that Parse had to make, one sentence each.
	Notes []string
}

// Stats sums up a Trace.
type Stats struct {
	Count     map[Kind]int
	Bytes     int64 // data of the Write ops
	MaxOffset int64 // end of the farthest Write
	Rewrites  int   // Writes that begin below the end of a Write before them
}

// Stats counts the ops of a trace. Rewrites above zero in a file that is never
// truncated mean that the log is circular.
func (t *Trace) Stats() Stats {
	s := Stats{Count: map[Kind]int{}}
	end := int64(0)
	for _, op := range t.Ops {
		s.Count[op.Kind]++
		switch op.Kind {
		case Create, Rename, Unlink:
			end = 0
		case Truncate:
			end = min(end, op.Size)
		case Replace:
			end = op.Size
		case Write:
			if op.Offset < end {
				s.Rewrites++
			}
			end = max(end, op.Offset+int64(len(op.Data)))
			s.Bytes += int64(len(op.Data))
			s.MaxOffset = max(s.MaxOffset, op.Offset+int64(len(op.Data)))
		}
	}
	return s
}

// Options say which file is the log, and bound what Parse takes. The zero
// value is ready to use.
type Options struct {
	// File is the log: a glob if it contains * ? or [ (matched against the
	// whole name and against its last element, as path.Match does), else the
	// whole name or the end of it ("test.db-wal", "-wal").
	//
	// If several names match, or if File is empty and all are candidates, the
	// log is the one with the most Sync ops; among equals the one with the
	// most writes, then the most bytes, then the first of the trace.
	File string

	// MaxOps is the most ops kept, over all files of the trace.
	// 0 means 1<<20.
	MaxOps int
	// MaxBytes is the most data kept, over all files of the trace.
	// 0 means 256 MiB.
	MaxBytes int64
	// MaxOffset is the farthest byte of a file that may be written.
	// 0 means 1 TiB.
	MaxOffset int64
	// MaxLine is the longest line. 0 means 64 MiB.
	MaxLine int
}

// Fixed limits, all far above what a program does.
const (
	maxNames   = 1 << 16 // names of files
	maxProcs   = 1 << 14 // processes alive at one time
	maxEntries = 1 << 16 // open descriptors of all processes
	maxPath    = 8192    // bytes of a name
	maxNotes   = 50
)

// withDefaults fills the zero fields and checks the others.
func (o Options) withDefaults() (Options, error) {
	if o.MaxOps == 0 {
		o.MaxOps = 1 << 20
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 256 << 20
	}
	if o.MaxOffset == 0 {
		o.MaxOffset = 1 << 40
	}
	if o.MaxLine == 0 {
		o.MaxLine = 64 << 20
	}
	if o.MaxOps < 0 || o.MaxBytes < 0 || o.MaxOffset < 0 || o.MaxLine < 0 {
		return o, errAt(0, 0, ErrBadOptions, "use 0 for the usual limit", "a limit is negative")
	}
	if _, err := path.Match(o.File, ""); isGlob(o.File) && err != nil {
		return o, errAt(0, 0, ErrBadOptions, "close the bracket, or name the file plainly",
			"file pattern %q: %v", o.File, err)
	}
	return o, nil
}

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// matches reports whether name matches File.
func (o Options) matches(name string) bool {
	if o.File == "" || name == o.File {
		return true
	}
	if !isGlob(o.File) {
		return strings.HasSuffix(name, o.File)
	}
	whole, _ := path.Match(o.File, name)
	last, _ := path.Match(o.File, path.Base(name))
	return whole || last
}
