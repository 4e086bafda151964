package model

import (
	"fmt"
	"strings"
)

// File is one file that is written in place, empty at first. Reads and writes are
// atomic: a write without a reply happens whole or not at all. (For a log whose writes
// a crash may tear, see [LogFile].)
type File struct {
	// Capacity is the largest size the file may have; 0 is
	// DefaultFileCapacity. An operation past it is an ErrBadOperation.
	Capacity int64
}

// DefaultFileCapacity is the capacity of a zero [File].
const DefaultFileCapacity = 16 << 20

// Operations of a [File] and their outputs.
type (
	// FilePwrite writes Data at Off; a gap before Off reads as zeros. It
	// answers FileWrote, or Done for all of Data.
	FilePwrite struct {
		Off  int64
		Data string
	}
	// FilePread answers FileData: N bytes from Off, or up to the end.
	FilePread struct {
		Off int64
		N   int
	}
	// FileTruncate cuts the file, or extends it with zeros. It answers Done.
	FileTruncate struct{ Size int64 }
	// FileSize answers FileSizeIs.
	FileSize struct{}

	// FileWrote reports that only the first N bytes were written.
	FileWrote struct{ N int }
	// FileData is the result of a read.
	FileData struct{ Data string }
	// FileSizeIs is the size of the file.
	FileSizeIs struct{ Size int64 }
)

func (o FilePwrite) String() string   { return fmt.Sprintf("pwrite(%d, %q)", o.Off, o.Data) }
func (o FilePread) String() string    { return fmt.Sprintf("pread(%d, %d)", o.Off, o.N) }
func (o FileTruncate) String() string { return fmt.Sprintf("truncate(%d)", o.Size) }
func (FileSize) String() string       { return "size()" }
func (o FileWrote) String() string    { return fmt.Sprintf("wrote %d", o.N) }
func (o FileData) String() string     { return fmt.Sprintf("%q", o.Data) }
func (o FileSizeIs) String() string   { return fmt.Sprintf("size %d", o.Size) }

func (f File) capacity() int64 {
	if f.Capacity <= 0 {
		return DefaultFileCapacity
	}
	return f.Capacity
}

// Name implements Spec.
func (File) Name() string { return "file" }

// Init implements Spec: the file is empty. Its state is its content, as a string
// because strings are immutable.
func (File) Init() any { return "" }

// Step implements Spec.
func (f File) Step(state, input, output any) (bool, any) {
	content, ok := state.(string)
	if !ok || f.Validate(input, output) != nil {
		return false, state
	}
	switch in := input.(type) {
	case FilePwrite:
		data := in.Data
		if out, short := output.(FileWrote); short {
			data = data[:out.N]
		}
		return true, pwrite(content, int(in.Off), data)
	case FilePread:
		return isNoReply(output) || output == FileData{pread(content, in)}, state
	case FileTruncate:
		return true, resize(content, int(in.Size))
	case FileSize:
		return isNoReply(output) || output == FileSizeIs{int64(len(content))}, state
	}
	return false, state
}

func pwrite(content string, off int, data string) string {
	if data == "" { // as in POSIX, writing nothing does not extend the file
		return content
	}
	end := off + len(data)
	var b strings.Builder
	b.Grow(max(end, len(content)))
	b.WriteString(resize(content, off))
	b.WriteString(data)
	if end < len(content) {
		b.WriteString(content[end:])
	}
	return b.String()
}

func pread(content string, in FilePread) string {
	if in.Off >= int64(len(content)) {
		return ""
	}
	rest := content[in.Off:]
	return rest[:min(in.N, len(rest))]
}

func resize(content string, size int) string {
	if size <= len(content) {
		return content[:size]
	}
	return content + strings.Repeat("\x00", size-len(content))
}

// Validate implements Spec.
func (f File) Validate(input, output any) error {
	fits := isNoReply(output)
	switch in := input.(type) {
	case FilePwrite:
		switch out := output.(type) {
		case Done:
			fits = true
		case FileWrote:
			fits = out.N >= 0 && out.N <= len(in.Data)
		}
		room := f.capacity() - int64(len(in.Data))
		fits = fits && in.Off >= 0 && in.Off <= room
	case FilePread:
		_, data := output.(FileData)
		fits = (fits || data) && in.Off >= 0 && in.N >= 0
	case FileTruncate:
		_, done := output.(Done)
		fits = (fits || done) && in.Size >= 0 && in.Size <= f.capacity()
	case FileSize:
		_, size := output.(FileSizeIs)
		fits = fits || size
	default:
		fits = false
	}
	if !fits {
		return badOperation(f.Name(), input, output)
	}
	return nil
}

// Equal implements Spec.
func (File) Equal(a, b any) bool { return a == b }

// Hash implements Spec.
func (File) Hash(state any) uint64 {
	content, _ := state.(string)
	return hashBytes(content)
}

// Size implements Spec.
func (File) Size(state any) int {
	content, _ := state.(string)
	return 16 + len(content)
}

// Key implements Spec: a file does not split, as writes may overlap.
func (File) Key(any) string { return "" }

// ReadOnly implements Spec.
func (File) ReadOnly(input any) bool {
	switch input.(type) {
	case FilePread, FileSize:
		return true
	}
	return false
}

// DescribeOperation implements Spec.
func (File) DescribeOperation(input, output any) string { return describe(input, output) }

// DescribeState implements Spec.
func (File) DescribeState(state any) string { return fmt.Sprintf("%q", state) }
