package splitfscheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// step is one of a program. A file is given by its name, or as @key if it is held open.
type step func(r *run)

// one are steps from which a run chooses; consecutive steps are a program.
type one []step

const perm = 0o640

// create makes a file.
func (r *run) create(name string, flag int) error {
	ncl := flag&splitfs.O_NCL != 0 || matches(name)
	if at := path.Dir(name); !r.there(at) { // a crash happened before the folder was synced
		_, err := r.fsys.Open(name, os.O_RDWR|os.O_CREATE|flag, perm)
		r.refused("create "+name+" in a missing folder", err, fs.ErrNotExist)
		return err
	}
	if r.model.names[name] != nil {
		_, err := r.fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|flag, perm)
		r.refused("create "+name+", which exists", err, fs.ErrExist)
		return err
	}
	return r.change(change{text: "create " + name, names: []string{name}}, func() error {
		f, err := r.fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|flag, perm)
		if err != nil {
			return err
		}
		return f.Close()
	}, func(x *model) {
		x.names[name] = &file{ncl: ncl, perm: perm}
		if !ncl {
			x.hazy[name] = true
		}
	})
}

// there reports whether a folder exists.
func (r *run) there(name string) bool {
	_, err := r.dir.mem.Stat(name)
	return err == nil
}

// matches reports whether a name matches one of the patterns, *.log and dir/?.w.
func matches(name string) bool {
	return strings.HasSuffix(name, ".log") || len(name) == len("dir/?.w") && strings.HasPrefix(name, "dir/") && strings.HasSuffix(name, ".w")
}

func create(name string, flag int) step { return func(r *run) { _ = r.create(name, flag) } }

// data returns the data of the next write: n times a letter of its own.
func (r *run) data(n int) []byte {
	r.letter++
	r.note("data")
	return []byte(strings.Repeat(string(rune('a'+(r.letter-1)%26)), n))
}

// content changes the content of a file by calling do.
func (r *run) content(at, text string, do func(f *splitfs.File) error, now func(old []byte) []byte) {
	f, done, err := r.open(at)
	if err != nil {
		return
	}
	defer done()
	u := change{text: text + " " + at, at: at, names: r.model.namesOf(at)}
	if r.model.file(at).ncl && len(u.names) > 0 {
		u.torn = u.names[0]
	}
	before := r.store.names()
	_ = r.change(u, func() error { return do(f) }, func(x *model) {
		file := x.file(at)
		file.set(now(slices.Clone(file.data)))
	})
	if !slices.Equal(before, r.store.names()) {
		r.Meet(sawGrown)
	}
}

// namesOf returns the names of a held file, or the single name of another one.
func (x *model) namesOf(at string) (names []string) {
	f := x.file(at)
	for name, g := range x.names { //lint:ordered there is one, or none
		if f == g {
			names = append(names, name)
		}
	}
	return names
}

// written returns old with p written at off.
func written(old, p []byte, off int) []byte {
	if len(p) == 0 {
		return old
	}
	if grow := off + len(p) - len(old); grow > 0 {
		old = append(old, make([]byte, grow)...)
	}
	copy(old[off:], p)
	return old
}

// add appends n bytes.
func add(at string, n int) step {
	return func(r *run) {
		p := r.data(n)
		r.content(at, fmt.Sprintf("append %s to", runsOf(string(p))), func(f *splitfs.File) error {
			return r.wrote(f, p)(f.Append(p))
		}, func(old []byte) []byte { return append(old, p...) })
	}
}

// wrote returns the error of a write, and checks that it wrote everything, or on the peers nothing.
func (r *run) wrote(f *splitfs.File, p []byte) func(n int, err error) error {
	return func(n int, err error) error {
		r.that(err != nil || n == len(p), "%[2]d of %[1]d bytes were written", len(p), n)
		r.that(err == nil || n == 0 || !f.NCL(), "a failed write to the peers reports %d bytes: %v", n, err)
		return err
	}
}

// put writes n bytes at off, which counts from the end if it is negative.
func put(at string, off, n int) step {
	return func(r *run) {
		p := r.data(n)
		if f := r.model.file(at); off < 0 && f != nil {
			off := max(0, len(f.data)+off)
			putAt(at, off, p)(r)
			return
		}
		putAt(at, max(off, 0), p)(r)
	}
}

func putAt(at string, off int, p []byte) step {
	return func(r *run) {
		r.content(at, fmt.Sprintf("write %s at %d of", runsOf(string(p)), off), func(f *splitfs.File) error {
			return r.wrote(f, p)(f.WriteAt(p, int64(off)))
		}, func(old []byte) []byte { return written(old, p, off) })
	}
}

// size truncates to n bytes, or by -n bytes if n is negative.
func size(at string, n int) step {
	return func(r *run) {
		n := n
		if f := r.model.file(at); n < 0 && f != nil {
			n = max(0, len(f.data)+n)
		}
		n = max(n, 0)
		r.content(at, fmt.Sprintf("truncate to %d", n), func(f *splitfs.File) error { return f.Truncate(int64(n)) },
			func(old []byte) []byte { return append(old[:min(n, len(old))], make([]byte, max(0, n-len(old)))...) })
	}
}

// empty truncates a file by opening it.
func empty(name string) step {
	return func(r *run) {
		r.content(name, "empty", func(*splitfs.File) error {
			f, err := r.fsys.Open(name, os.O_RDWR|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			return f.Close()
		}, func(old []byte) []byte { return nil })
	}
}

// remove deletes a file, if it exists.
func remove(name string) step {
	return func(r *run) {
		if r.model.names[name] == nil {
			r.refused("remove "+name, r.fsys.Remove(name), fs.ErrNotExist)
			return
		}
		_ = r.change(change{text: "remove " + name, names: []string{name}}, func() error { return r.fsys.Remove(name) }, func(x *model) {
			if !x.names[name].ncl {
				x.hazy[name] = true
			}
			delete(x.names, name)
		})
	}
}

// rename renames a file or folder, if it exists.
func rename(from, to string) step {
	return func(r *run) {
		moved := r.model.below(from)
		if len(moved) == 0 || !r.there(path.Dir(to)) {
			r.refused("rename "+from, r.fsys.Rename(from, to), fs.ErrNotExist)
			return
		}
		var names []string
		for _, name := range moved {
			names = append(names, name, to+strings.TrimPrefix(name, from))
		}
		_ = r.change(change{text: "rename " + from + " to " + to, names: names}, func() error { return r.fsys.Rename(from, to) },
			func(x *model) { x.move(from, to) })
	}
}

// refused checks that an operation failed, for the right reason.
func (r *run) refused(what string, err, want error) {
	if err != nil && errors.Is(err, errInjected) {
		return
	}
	if !errors.Is(err, want) {
		r.Failf("nonsense", "%s: %v, want %v", what, err, want)
	}
}

// read reads a file, which may fail.
func read(at string) step {
	return func(r *run) {
		r.content(at, "read", func(f *splitfs.File) error {
			_, err := content(f)
			return err
		}, func(old []byte) []byte { return old })
	}
}

// hold opens a file, creates it if it does not exist, and keeps it open.
func hold(key, name string) step {
	return func(r *run) {
		if r.model.names[name] == nil && r.create(name, 0) != nil {
			return
		}
		letGo(key)(r)
		before := r.failures
		f, err := r.fsys.Open(name, os.O_RDWR, 0)
		switch {
		case err == nil:
			r.held[key], r.model.held[key] = f, r.model.names[name]
			r.note("held", key, name)
		case r.failures < before:
		default:
			r.Failf("unavailable", "%v", err)
		}
	}
}

// letGo closes a file that is held.
func letGo(key string) step {
	return func(r *run) {
		if r.held[key] != nil {
			r.drop(key)
		}
	}
}

// held returns a step for a file that is held open, if it still is: there may have been a crash.
func held(key string, s step) step {
	return func(r *run) {
		if r.held[key] != nil {
			s(r)
		}
	}
}

// fsync makes a file of the directory and its name durable.
func fsync(name string) step {
	return func(r *run) {
		f := r.model.names[name]
		if f == nil {
			return
		}
		_ = r.change(change{text: "sync " + name, names: []string{name}}, func() error {
			f, err := r.fsys.Open(name, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := f.Sync(); err != nil {
				return err
			}
			return r.fsys.SyncDir(path.Dir(name))
		}, func(x *model) {
			x.names[name].loose = false
			x.synced(path.Dir(name))
		})
	}
}

// mkdir creates a folder durably, unless it exists.
func mkdir(name string) step {
	return func(r *run) {
		_ = r.change(change{text: "mkdir " + name}, func() error {
			if err := r.fsys.Mkdir(name, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return r.fsys.SyncDir(path.Dir(name))
		}, func(x *model) { x.synced(path.Dir(name)) })
	}
}

// remount closes the file system and opens it again, without a crash.
func remount(r *run) { r.remount() }
