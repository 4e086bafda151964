package splitfscheck

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/memdir"
)

// folder is the directory. It records which names have changed since their folder was
// synced: memdir makes all of them durable at once, but other directories need not.
type folder struct {
	m        *memory
	mem      memdir.Dir
	unsynced map[string]bool
	// withdrawn are intents that were removed although their objects live. Until the removal is durable, the
	// next mount may find the intents, and would consider the objects replaced if the files have other names.
	withdrawn map[string]bool
	link      string // the name of a symbolic link, if there is one
	fault     string // the kind of call that fails, if there is one
	spare     int    // number of calls of the kind that succeed first
	done      bool   // the failing call is executed
	open      int    // files
}

func (f *folder) reset() {
	f.mem.Reset()
	f.unsynced, f.withdrawn, f.link, f.fault, f.spare, f.done, f.open = map[string]bool{}, map[string]bool{}, "", "", 0, false, 0
}

// print covers everything that a life finds after a crash, when everything is durable.
func (f *folder) print() fingerprint.Print {
	var p fingerprint.Print
	f.walk(".", func(name string, st fs.FileInfo, data []byte) {
		p = p.String(name).Uint(uint64(st.Mode())).Bytes(data)
	})
	for _, names := range []map[string]bool{f.unsynced, f.withdrawn} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			p = p.String(name)
		}
	}
	return p
}

// walk is for the scenario itself: no call fails, and no crash happens.
func (f *folder) walk(at string, do func(name string, st fs.FileInfo, data []byte)) {
	list, err := f.mem.ReadDir(at)
	for _, e := range list {
		name := path.Join(at, e.Name())
		st, _ := e.Info()
		do(name, st, f.content(name))
		if e.IsDir() {
			f.walk(name, do)
		}
	}
	if err != nil {
		panic(fmt.Errorf("an existing folder cannot be listed: %w", err))
	}
}

// content returns the content of a file, or nil.
func (f *folder) content(name string) []byte {
	file, err := f.mem.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	st, _ := file.Stat()
	b := make([]byte, st.Size())
	_, _ = file.ReadAt(b, 0)
	return b
}

// put creates a file that only the scenario knows about.
func (f *folder) put(name, text string) {
	file, err := f.mem.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = file.WriteAt([]byte(text), 0)
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = f.mem.SyncDir(path.Dir(name))
	}
	if err != nil {
		panic(err)
	}
	f.m.note("put", name, text)
}

func (f *folder) call(do func() error, what string, more ...string) error {
	if what == f.fault {
		if f.spare--; f.spare < 0 {
			if f.done {
				_ = do()
			}
			return failedAt(what, more[0], errInjected)
		}
	}
	return failedAt(what, more[0], f.m.call(&f.m.load.dirFails, do, what, more...))
}

// look executes a call that changes nothing: no crash need be tried before it. Other tasks, if
// any, may run before it.
func (f *folder) look(do func() error, what, name string) error {
	if what == f.fault {
		return failedAt(what, name, errInjected)
	}
	err := failedAt(what, name, f.m.look(&f.m.load.dirFails, do))
	if f.m.load.tasks {
		f.m.note(what, name)
	}
	return err
}

// failedAt returns the error of an injected failure of a directory call.
func failedAt(what, name string, err error) error {
	if err == errInjected {
		return &fs.PathError{Op: what, Path: name, Err: err}
	}
	return err
}

// changed records that names in these folders have changed.
func (f *folder) changed(names ...string) {
	for _, name := range names {
		f.unsynced[name] = true
	}
}

func (f *folder) OpenFile(name string, flag int, perm fs.FileMode) (file splitfs.DirFile, err error) {
	if flag&(splitfs.O_NCL|os.O_APPEND) != 0 {
		f.m.Failf("misuse", "%s is opened in the directory with flags %#x", name, flag)
	}
	if own := path.Dir(name) == splitfs.Reserved && len(path.Base(name)) != len(none); own && flag&os.O_CREATE != 0 && perm != 0o600 {
		f.m.Failf("misuse", "%s is made with %v", name, perm)
	}
	do := func() error {
		_, absent := f.mem.Stat(name)
		var mf splitfs.DirFile
		if mf, err = f.mem.OpenFile(name, flag, perm); err != nil {
			return err
		}
		if absent != nil {
			f.changed(name)
		}
		file = &opened{mf, f, name, flag}
		f.open++
		return nil
	}
	if flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		err = f.look(do, "open", name)
	} else {
		err = f.call(do, "create", name, fmt.Sprint(flag, perm))
	}
	if err != nil && file != nil { // it was opened, but the caller gets an error
		f.open--
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *folder) Stat(name string) (st fs.FileInfo, err error) {
	if name == f.link && name != "" {
		return linked{name}, nil
	}
	err = f.look(func() (err error) { st, err = f.mem.Stat(name); return }, "stat", name)
	return st, err
}

func (f *folder) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = f.look(func() (err error) { list, err = f.mem.ReadDir(name); return }, "list", name)
	return list, err
}

func (f *folder) Rename(oldname, newname string) error {
	if len(f.withdrawn) > 0 && path.Dir(oldname) != splitfs.Reserved && path.Dir(newname) != splitfs.Reserved {
		f.m.Failf("unsynced", "%s is renamed to %s while %v may come back", oldname, newname, slices.Sorted(maps.Keys(f.withdrawn)))
	}
	return f.call(func() error {
		err := f.mem.Rename(oldname, newname)
		if err == nil {
			f.changed(oldname, newname)
		}
		return err
	}, "rename", oldname, newname)
}

// Remove in the reserved folder need not be durable, unless it withdraws an intent: the next mount does
// it again.
func (f *folder) Remove(name string) error {
	return f.call(func() error {
		err := f.mem.Remove(name)
		id, intent := strings.CutSuffix(path.Base(name), ".replaced")
		switch {
		case err != nil:
		case path.Dir(name) != splitfs.Reserved:
			f.changed(name)
		case intent && f.m.store.objects[id] != nil:
			f.withdrawn[name] = true
		}
		return err
	}, "remove", name)
}

func (f *folder) Mkdir(name string, perm fs.FileMode) error {
	return f.call(func() error {
		err := f.mem.Mkdir(name, perm)
		if err == nil {
			f.changed(name)
		}
		return err
	}, "mkdir", name)
}

func (f *folder) SyncDir(name string) error {
	return f.call(func() error {
		for _, names := range []map[string]bool{f.unsynced, f.withdrawn} {
			maps.DeleteFunc(names, func(s string, _ bool) bool { return path.Dir(s) == name })
		}
		return f.mem.SyncDir(name)
	}, "syncdir", name)
}

// opened is an open file of the directory.
type opened struct {
	splitfs.DirFile
	f    *folder
	name string
	flag int
}

// isFor reports a use for which the file is not open.
func (o *opened) isFor(not int) {
	if o.flag&(os.O_RDONLY|os.O_WRONLY|os.O_RDWR) == not {
		o.f.m.Failf("misuse", "%s is open with flags %#x, which do not allow the operation", o.name, o.flag)
	}
}

func (o *opened) ReadAt(p []byte, off int64) (n int, err error) {
	o.isFor(os.O_WRONLY)
	if o.f.fault == "read" {
		return 0, errInjected
	}
	n, err = o.DirFile.ReadAt(p, off)
	if o.f.m.load.tasks {
		o.f.m.note("read", o.name)
	}
	return n, err
}

func (o *opened) Stat() (fs.FileInfo, error) {
	if o.f.fault == "size" {
		return nil, errInjected
	}
	return o.DirFile.Stat()
}

func (o *opened) Close() error {
	o.f.open--
	if o.f.fault == "close" {
		return errInjected
	}
	return o.DirFile.Close()
}

func (o *opened) WriteAt(p []byte, off int64) (n int, err error) {
	o.isFor(os.O_RDONLY)
	err = o.f.call(func() (err error) { n, err = o.DirFile.WriteAt(p, off); return }, "write", o.name, string(p), fmt.Sprint(off))
	return n, err
}

func (o *opened) Truncate(size int64) error {
	return o.f.call(func() error { return o.DirFile.Truncate(size) }, "truncate", o.name, fmt.Sprint(size))
}

func (o *opened) Sync() error { return o.f.call(o.DirFile.Sync, "sync", o.name) }
