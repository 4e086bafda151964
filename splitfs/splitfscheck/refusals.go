package splitfscheck

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// refusalScenarios are about invalid requests.
func refusalScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "refused",
			doc:    "Invalid operations fail with their POSIX errors, on the peers as in the directory, and change nothing.",
			faults: "none",
			bounds: "an operation of each kind on files of both kinds: open for reading only, for writing only, and closed; names that are not allowed",
			load:   workload{script: refusing, maxRegion: 2048},
		}),
		build(spec{
			name:   "reported",
			doc:    "The caller of a failed operation gets the error of the directory or the store, and a failed clean-up is logged.",
			faults: "none",
			bounds: "each kind of call of the directory and the store, in each operation that makes it",
			load:   workload{script: reporting, maxRegion: 2048},
		}),
		build(spec{
			name:   "owned",
			doc:    "The right to change files has expired, and the application continues: it changes nothing more, and can still read its files.",
			faults: "none",
			bounds: "an operation of each kind that changes something, on files of both kinds",
			load:   workload{script: outlasting, maxRegion: 2048},
		}),
		build(spec{
			name:   "limits",
			doc:    "Values just within the limits of a configuration or a file are accepted, and values just outside are rejected.",
			faults: "none",
			bounds: "each field at its limits and beyond them; the patterns of each preset",
			load:   workload{script: limiting},
		}),
		build(spec{
			name:   "exact",
			doc:    "A region can be filled to its last byte, and not beyond; a larger region has room for as much again.",
			faults: "none",
			bounds: "twenty-two ways to fill a region of 1024 to 2048 bytes; regions of up to 8 KiB",
			load:   workload{script: exact},
		}),
		build(spec{
			name:   "damaged",
			doc:    "Stubs, the number of the mount and the reserved folder have contents that splitfs did not write: it treats the file as a file of the directory, or reports the error.",
			faults: "none",
			bounds: "a directory with two files, changed in one of twenty-two ways",
			load:   workload{script: damaging},
		}),
	}
}

// want fails the run unless err wraps want; nil: no error.
func (r *run) want(what string, err, want error) {
	if want == nil && err != nil || !errors.Is(err, want) {
		r.Failf("nonsense", "%s: %v, want %v", what, err, want)
	}
}

// that fails the run unless ok.
func (r *run) that(ok bool, what string, args ...any) {
	if !ok {
		r.Failf("nonsense", what, args...)
	}
}

// opens opens a file, which must succeed.
func (r *run) opens(name string, flag int) *splitfs.File {
	f, err := r.fsys.Open(name, flag, perm)
	r.want("open "+name, err, nil)
	return f
}

func refusing(r *run) {
	r.mount()
	both(mkdir("dir"), add("a.log", 5), add("d", 5), fsync("d"))(r)
	for _, name := range []string{"a.log", "d"} {
		r.refusesModes(name)
		r.refusesFlags(name)
	}
	r.refusesNames()
	r.refusesKinds()
	r.compare()
	r.refusesClosed()
}

// says checks that an error of an open file names the operation and the file.
func (r *run) says(err error, op, name string) {
	var of *fs.PathError
	r.that(errors.As(err, &of) && of.Op == op && of.Path == name, "%v does not say %s %s", err, op, name)
}

// refusesModes tries operations for which a file is not open.
func (r *run) refusesModes(name string) {
	reader, writer := r.opens(name, os.O_RDONLY), r.opens(name, os.O_WRONLY)
	n, writes := reader.WriteAt([]byte("x"), 0)
	k, appends := reader.Append([]byte("x"))
	m, reads := writer.ReadAt(make([]byte, 1), 0)
	r.that(n == 0 && k == 0 && m == 0, "%d, %d and %d bytes were written and read", n, k, m)
	for _, x := range []struct {
		err error
		op  string
	}{{writes, "write"}, {appends, "write"}, {reader.Truncate(1), "truncate"}, {reads, "read"}} {
		r.want("a file that is not open for it", x.err, syscall.EBADF)
		r.says(x.err, x.op, name)
	}
	_, writes = writer.WriteAt([]byte("x"), -1)
	_, reads = reader.ReadAt(make([]byte, 1), -1)
	for _, err := range []error{writes, reads, writer.Truncate(-1)} {
		r.want("a negative offset", err, fs.ErrInvalid)
	}
	for _, f := range []*splitfs.File{reader, writer} { // what any open file can
		_, err := f.Size()
		r.want("the size of an open file", err, nil)
		r.want("sync of an open file", f.Sync(), nil)
		r.that(f.Name() == name && f.NCL() == matches(name), "the file %s is %s, on the peers: %v", name, f.Name(), f.NCL())
		r.want("close", f.Close(), nil)
		r.isClosed(f, name)
	}
	if matches(name) { // the directory has its own errors
		r.tooFar(name)
	}
}

// isClosed tries every operation on a closed file.
func (r *run) isClosed(f *splitfs.File, name string) {
	n, reads := f.ReadAt(make([]byte, 1), 0)
	k, writes := f.WriteAt([]byte("x"), 0)
	m, appends := f.Append([]byte("x"))
	s, size := f.Size()
	r.that(n == 0 && k == 0 && m == 0 && s == 0, "of a closed file %d, %d and %d bytes were read and written, of %d", n, k, m, s)
	for _, x := range []struct {
		err error
		op  string
	}{{reads, "read"}, {writes, "write"}, {appends, "write"}, {size, "stat"}, {f.Truncate(0), "truncate"}, {f.Sync(), "sync"}, {f.Close(), "close"}} {
		r.want(x.op+" of a closed file", x.err, fs.ErrClosed)
		r.says(x.err, x.op, name)
	}
}

// tooFar writes beyond the largest size of a file.
func (r *run) tooFar(name string) {
	f := r.opens(name, os.O_RDWR)
	n, far := f.WriteAt([]byte("x"), splitfs.LargestRegion)
	k, farther := f.WriteAt([]byte("ten bytes."), math.MaxInt64)
	r.that(n == 0 && k == 0, "%d and %d bytes were written at offsets that no file can have", n, k)
	for _, err := range []error{far, farther, f.Truncate(splitfs.LargestRegion + 1), f.Truncate(splitfs.LargestRegion), f.Truncate(math.MaxInt64)} {
		r.want("a byte that no file can have", err, splitfs.ErrNoSpace)
		r.want("a byte that no file can have", err, syscall.ENOSPC)
	}
	n, err := f.WriteAt([]byte{}, 100)
	r.that(n == 0 && err == nil, "a write of no bytes beyond the end: %d, %v", n, err)
	r.want("close", f.Close(), nil)
}

// refusesFlags opens an existing file with all flags.
func (r *run) refusesFlags(name string) {
	_, err := r.fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	r.want("O_EXCL of an existing file", err, fs.ErrExist)
	r.says(err, "open", name)
	for _, flag := range []int{os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_EXCL, os.O_WRONLY | os.O_EXCL, os.O_RDONLY | os.O_CREATE, os.O_RDWR | os.O_APPEND, os.O_RDWR | splitfs.O_NCL, os.O_RDWR | os.O_CREATE | splitfs.O_NCL} {
		f := r.opens(name, flag)
		size, err := f.Size()
		r.that(size == 5 && err == nil && f.NCL() == matches(name), "%s opened with %#x has %d bytes, on the peers: %v", name, flag, size, f.NCL())
		r.want("close", f.Close(), nil)
	}
	f := r.opens(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	size, err := f.Size()
	r.that(size == 0 && err == nil, "%s opened with O_TRUNC has %d bytes, %v", name, size, err)
	_, err = f.Append([]byte(strings.Repeat("t", 5)))
	r.want("append after O_TRUNC", errors.Join(err, f.Sync(), f.Close()), nil)
	r.model.names[name].data = []byte("ttttt")
	f = r.opens(name, os.O_WRONLY|os.O_CREATE)
	_, err = f.WriteAt([]byte("t"), 0)
	r.want("a write to a file that is open for writing", errors.Join(err, f.Sync(), f.Close()), nil)
	for _, flag := range []int{os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_TRUNC, os.O_RDWR | splitfs.O_NCL, os.O_WRONLY | splitfs.O_NCL} {
		_, err := r.fsys.Open("none-"+name, flag, perm)
		r.want("a missing file without O_CREATE", err, fs.ErrNotExist)
	}
}

// refusesNames tries invalid names, and splitfs's own.
func (r *run) refusesNames() {
	for _, name := range []string{"", "/a.log", "../a.log", "dir/../a.log", "dir//a", splitfs.Reserved, splitfs.Reserved + "/life"} {
		want := fs.ErrInvalid
		if strings.HasPrefix(name, splitfs.Reserved) {
			want = fs.ErrPermission
		}
		_, open := r.fsys.Open(name, os.O_RDWR|os.O_CREATE, perm)
		_, stat := r.fsys.Stat(name)
		_, list := r.fsys.ReadDir(name)
		remove, mkdir := r.fsys.Remove(name), r.fsys.Mkdir(name, perm)
		for _, x := range []struct {
			err error
			op  string
		}{{open, "open"}, {stat, "stat"}, {list, "readdir"}, {remove, "remove"}, {mkdir, "mkdir"}} {
			r.want("the name "+name, x.err, want)
			r.says(x.err, x.op, name)
		}
		r.want("the name "+name, r.fsys.SyncDir(name), want)
		for _, err := range []error{r.fsys.Rename(name, "b.log"), r.fsys.Rename("a.log", name)} {
			var of *os.LinkError
			r.want("rename from or to "+name, err, want)
			r.that(errors.As(err, &of) && of.Op == "rename", "%v does not say rename", err)
		}
	}
	both(create(splitfs.Reserved+"x", 0), create("dir/"+splitfs.Reserved, splitfs.O_NCL))(r) // names like any
}

// refusesKinds confuses folders, files and missing names.
func (r *run) refusesKinds() {
	f := r.opens("a.log", os.O_RDWR)
	writer := r.opens("w", os.O_WRONLY|os.O_CREATE)
	r.that(!writer.NCL(), "a new file that is open for writing only is on the peers")
	r.want("close and remove", errors.Join(writer.Close(), r.fsys.Remove("w")), nil)
	_, open := r.fsys.Open("dir", os.O_RDWR, 0)
	_, inNone := r.fsys.Open("none/b.log", os.O_RDWR|os.O_CREATE, perm)
	_, stat := r.fsys.Stat("none")
	_, list := r.fsys.ReadDir("none")
	r.dir.link = "link"
	_, link := r.fsys.Open("link", os.O_RDWR, 0)
	for _, x := range []struct {
		what      string
		err, want error
	}{
		{"open a folder", open, syscall.EISDIR}, {"make a file in a missing folder", inNone, fs.ErrNotExist}, {"stat a missing file", stat, fs.ErrNotExist},
		{"list a missing folder", list, fs.ErrNotExist}, {"open a symbolic link", link, fs.ErrInvalid},
		{"remove a folder that is not empty", r.fsys.Remove("dir"), syscall.ENOTEMPTY}, {"make an existing folder", r.fsys.Mkdir("dir", perm), fs.ErrExist},
		{"rename a folder to a file on the peers", r.fsys.Rename("dir", "a.log"), syscall.ENOTDIR}, {"rename a file to a folder", r.fsys.Rename("a.log", "dir"), syscall.EISDIR},
		{"remove a missing file", r.fsys.Remove("none"), fs.ErrNotExist}, {"rename a missing file", r.fsys.Rename("none", "a.log"), fs.ErrNotExist},
		{"rename a file to itself", r.fsys.Rename("a.log", "a.log"), nil},
	} {
		r.want(x.what, x.err, x.want)
	}
	r.want("rename a folder to a file on the peers", r.fsys.Rename("dir", "a.log"), syscall.ENOTDIR)
	r.leftover() // there must be no intent; check before the next rename, which would withdraw it
	st, err := r.fsys.Stat("dir")
	r.that(err == nil && st.IsDir() && !st.NCL, "the folder is %+v, %v", st, err)
	r.dir.link = ""
	r.leftover()
	_, err = f.WriteAt(make([]byte, 1100), 5) // the file has its old name
	r.want("growth after a rename was refused", errors.Join(err, f.Close()), nil)
	r.model.names["a.log"].data = append(r.model.names["a.log"].data, make([]byte, 1100)...)
}

// refusesClosed tries every operation on a closed file system.
func (r *run) refusesClosed() {
	f := r.opens("a.log", os.O_RDWR)
	r.fsys.Close()
	r.want("close of a file afterwards", f.Close(), nil)
	_, open := r.fsys.Open("a.log", os.O_RDWR, 0)
	_, stat := r.fsys.Stat("a.log")
	_, list := r.fsys.ReadDir(".")
	for _, err := range []error{open, stat, list, r.fsys.Remove("a.log"), r.fsys.Rename("a.log", "b.log"), r.fsys.Mkdir("x", perm), r.fsys.SyncDir(".")} {
		r.want("after Close", err, fs.ErrClosed)
	}
	r.that(r.store.handles == 0, "%d objects are open after Close", r.store.handles)
	r.mount()
	r.compare()
}

// linked is a symbolic link, which memdir does not have.
type linked struct{ name string }

func (l linked) Name() string     { return path.Base(l.name) }
func (linked) Size() int64        { return 9 }
func (linked) Mode() fs.FileMode  { return fs.ModeSymlink | 0o777 }
func (linked) ModTime() time.Time { return time.Time{} }
func (linked) IsDir() bool        { return false }
func (linked) Sys() any           { return nil }
