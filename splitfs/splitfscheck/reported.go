package splitfscheck

import (
	"errors"
	"os"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// reporting makes each kind of call fail in turn, in every operation that makes it.
func reporting(r *run) {
	r.expecting = true
	r.mount()
	both(mkdir("dir"), add("a.log", 5), add("b.log", 5), add("d", 5), fsync("d"))(r)
	r.reportsOfFiles()
	r.reportsOfNames()
	r.renamesAfterFailures()
	r.reportsOfObjects()
	r.dir.fault, r.store.fault = "", ""
	r.remount()
	r.compare()
	r.reportsOfMounts()
}

// fails executes an operation while calls of a kind fail.
func (r *run) fails(what string, do func() error) {
	r.dir.fault, r.store.fault = what, what
	err := do()
	r.dir.fault, r.store.fault = "", ""
	r.want("while "+what+" fails", err, errInjected)
}

// failsLater executes an operation in which one call of a kind fails, after a number of
// successful ones.
func (r *run) failsLater(what string, spare int, do func() error) {
	r.dir.spare, r.store.spare = spare, spare
	r.fails(what, do)
	r.dir.spare, r.store.spare = 0, 0
}

// reportsOfFiles is about an open file of the directory.
func (r *run) reportsOfFiles() {
	f := r.opens("d", os.O_RDWR)
	for _, x := range []struct {
		what string
		do   func() (int, error)
	}{
		{"size", func() (int, error) { n, err := f.Size(); return int(n), err }},
		{"read", func() (int, error) { return f.ReadAt(make([]byte, 1), 0) }},
		{"write", func() (int, error) { return f.WriteAt([]byte("x"), 0) }},
		{"truncate", func() (int, error) { return 0, f.Truncate(0) }},
		{"sync", func() (int, error) { return 0, f.Sync() }},
	} {
		n := 0
		r.fails(x.what, func() (err error) { n, err = x.do(); return })
		r.that(n == 0, "while %s fails, %d bytes are reported", x.what, n)
	}
	n := 0
	r.fails("size", func() (err error) { n, err = f.Append([]byte("x")); return })
	r.that(n == 0, "a failed append reports %d bytes", n)
	r.fails("write", func() (err error) { _, err = f.Append([]byte("x")); return })
	r.fails("close", f.Close)
}

// reportsOfNames is about names, and the reserved folder.
func (r *run) reportsOfNames() {
	open := func(name string, flag int) func() error {
		return func() error {
			f, err := r.fsys.Open(name, os.O_RDWR|flag, perm)
			r.that((f == nil) == (err != nil), "open of %s: %v, %v", name, f, err)
			return err
		}
	}
	stat := func(name string) func() error {
		return func() error {
			st, err := r.fsys.Stat(name)
			r.that((st == nil) == (err != nil), "stat of %s: %v, %v", name, st, err)
			return err
		}
	}
	rename := func(from, to string) func() error { return func() error { return r.fsys.Rename(from, to) } }
	for _, x := range []struct {
		what string
		do   func() error
	}{
		{"stat", open("a.log", 0)}, {"open", open("a.log", 0)}, {"read", open("a.log", 0)}, {"open", open("d", 0)}, {"create", open("e", os.O_CREATE)},
		{"stat", stat("a.log")}, {"open", stat("a.log")}, {"read", stat("a.log")}, {"stat", stat("d")},
		{"create", open("c.log", os.O_CREATE)}, {"write", open("c.log", os.O_CREATE)}, {"sync", open("c.log", os.O_CREATE)}, {"close", open("c.log", os.O_CREATE)},
		{"syncdir", open("c.log", os.O_CREATE)}, {"rename", open("c.log", os.O_CREATE)},
		{"stat", func() error { return r.fsys.Remove("a.log") }}, {"rename", func() error { return r.fsys.Remove("a.log") }}, {"remove", func() error { return r.fsys.Remove("d") }},
		{"stat", rename("a.log", "b.log")}, {"create", rename("a.log", "b.log")}, {"write", rename("a.log", "b.log")}, {"syncdir", rename("a.log", "b.log")},
		{"rename", rename("a.log", "b.log")}, {"open", rename("a.log", "b.log")}, {"open", rename("a.log", "c")}, {"rename", rename("d", "c")},
		{"mkdir", func() error { return r.fsys.Mkdir("new", perm) }}, {"list", func() error { _, err := r.fsys.ReadDir("."); return err }},
		{"list", func() error { _, err := r.fsys.ReadDir("dir"); return err }}, {"syncdir", func() error { return r.fsys.SyncDir(".") }},
	} {
		r.fails(x.what, x.do)
	}
	before := r.own()
	r.fails("create object", open("c.log", os.O_CREATE))
	r.that(r.own() == before, "a file could not be made: before there were %d names in %s, and now there are %d", before, splitfs.Reserved, r.own())
	for spare := 1; spare < 3; spare++ { // the file exists, and its name may not be durable
		r.failsLater("syncdir", spare, open("c.log", os.O_CREATE))
		r.want("remove", r.fsys.Remove("c.log"), nil)
		both(add("g.log", 1), add("h.log", 1))(r)
		r.failsLater("syncdir", spare, rename("g.log", "h.log"))
		r.want("remove", r.fsys.Remove("h.log"), nil)
		delete(r.model.names, "g.log")
		delete(r.model.names, "h.log")
	}
	both(mkdir("away"), add("away/a.log", 1))(r)
	r.fails("rename", rename("b.log", "away/a.log"))
	r.want("remove", errors.Join(r.fsys.Remove("away/a.log"), r.fsys.Remove("away")), nil)
	delete(r.model.names, "away/a.log")
	add("away", 1)(r)                           // the replaced object no longer has a file
	r.fails("rename", rename("b.log", "a.log")) // the earlier failure must still be cleaned up
	for _, what := range []string{"open", "remove", "syncdir"} {
		r.fails(what, rename("d", "c"))
	}
	r.want("rename", rename("a.log", "e.log")(), nil)
	r.model.move("a.log", "e.log")
	r.remount()
	r.compare()
	r.want("rename", rename("e.log", "a.log")(), nil)
	r.model.move("e.log", "a.log")
}

// own returns the number of names in the reserved folder.
func (r *run) own() int {
	list, err := r.dir.mem.ReadDir(splitfs.Reserved)
	r.want("list "+splitfs.Reserved, err, nil)
	return len(list)
}

// renamesAfterFailures is about a rename that failed but took effect, and about later renames that need no
// clean-up: renames of files of the directory sync no folder.
func (r *run) renamesAfterFailures() {
	both(add("k.log", 3), add("m.log", 3))(r)
	r.dir.done = true
	r.fails("rename", func() error { return r.fsys.Rename("k.log", "l.log") })
	r.dir.done = false
	f := r.opens("l.log", os.O_RDWR)
	_, err := f.WriteAt(make([]byte, 1100), 3)
	r.want("growth after a rename that happened", errors.Join(err, f.Close()), nil)
	r.renamesAtOnce()
	r.want("rename", r.fsys.Rename("m.log", "l.log"), nil)
	r.renamesAtOnce()
	r.want("remove", r.fsys.Remove("l.log"), nil)
	delete(r.model.names, "k.log")
	delete(r.model.names, "m.log")
}

func (r *run) renamesAtOnce() {
	r.dir.fault = "syncdir"
	r.want("a rename with nothing to sync", errors.Join(r.fsys.Rename("d", "c"), r.fsys.Rename("c", "d")), nil)
	r.dir.fault = ""
}

// reportsOfObjects is about writing, reading, recovering, making and releasing objects.
func (r *run) reportsOfObjects() {
	f := r.opens("a.log", os.O_RDWR)
	write := func(at int64, n int) func() error {
		return func() error {
			k, err := f.WriteAt(make([]byte, n), at)
			r.that(k == 0, "a failed write reports %d bytes", k)
			return err
		}
	}
	r.fails("read object", func() error {
		n, err := f.ReadAt(make([]byte, 5), 0)
		r.that(n == 0, "a failed read reports %d bytes", n)
		return err
	})
	_, err := f.Append([]byte("more"))
	r.want("append", err, nil)
	r.model.names["a.log"].data = append(r.model.names["a.log"].data, "more"...)
	_, err = f.WriteAt([]byte("M"), 5) // appends a frame without data
	r.want("overwrite", err, nil)
	r.model.names["a.log"].data[5] = 'M'
	r.failsLater("read object", 1, write(8, 4)) // reads that frame, which is after the overwritten bytes
	r.want("close", f.Close(), nil)
	f = r.opens("a.log", os.O_RDWR)
	r.fails("read object", write(3, 4)) // over two frames
	r.want("close", f.Close(), nil)
	f = r.opens("a.log", os.O_RDWR)
	for _, what := range []string{"create", "write", "syncdir", "create object", "stat", "open", "read object"} { // a larger region
		r.fails(what, write(5, 1100))
	}
	r.failsLater("syncdir", 1, write(5, 1100)) // the sync of the intent
	r.want("close", f.Close(), nil)
	f = r.opens("a.log", os.O_RDWR)
	r.fails("rename", write(5, 1100))
	r.want("close", f.Close(), nil)
	f = r.opens("a.log", os.O_RDWR)
	logged := r.logged
	r.fails("record", write(5, 1100)) // copied
	r.that(r.logged == logged, "an interrupted enlargement was not cleaned up")
	r.fails("record", write(5, 2))
	err = write(5, 2)()
	r.want("after a write failed", err, splitfs.ErrFailed)
	r.want("after a write failed", err, errInjected)
	r.want("close", f.Close(), nil)
	for _, what := range []string{"recover object", "read object"} {
		r.fails(what, func() error { _, err := r.fsys.Open("a.log", os.O_RDWR, 0); return err })
		r.fails(what, func() error { _, err := r.fsys.Stat("a.log"); return err })
	}
	r.logs("release", "b.log")
	r.logs("remove", "f.log")
}

// logs removes a file whose object cannot be removed: it stays until the next mount.
func (r *run) logs(what, name string) {
	before := r.logged
	if r.model.names[name] == nil {
		_ = r.create(name, 0)
	}
	r.dir.fault, r.store.fault = what, what
	err := r.fsys.Remove(name)
	r.dir.fault, r.store.fault = "", ""
	r.want("remove while "+what+" fails", err, nil)
	r.that(r.logged == before+1, "while %s fails, %d messages are logged", what, r.logged-before)
	delete(r.model.names, name)
}

// reportsOfMounts is about New.
func (r *run) reportsOfMounts() {
	r.close()
	for _, what := range []string{"mkdir", "open", "read", "create", "write", "sync", "close", "rename", "syncdir", "list"} {
		r.fails(what, func() error {
			fsys, err := splitfs.New(r.config())
			r.that((fsys == nil) == (err != nil), "mount: %v, %v", fsys, err)
			return err
		})
	}
	intent := reserved + r.store.names()[0] + ".replaced"
	r.dir.put(intent, intentOf("none"))
	r.fails("stat", func() error { _, err := splitfs.New(r.config()); return err }) // is it still there?
	r.dir.put(intent, "nothing")
	r.fails("remove", func() error { _, err := splitfs.New(r.config()); return err })
	r.mount()
	r.compare()
	before := r.logged
	r.close()
	r.dir.put(reserved+none, "stub")
	r.store.fault = "recover object" // fails for objects that must be cleaned up
	fsys, err := splitfs.New(r.config())
	r.want("mount", err, nil)
	r.that(r.logged == before+1 && r.dir.content(reserved+none) != nil, "%d messages are logged for objects that could not be cleaned up", r.logged-before)
	fsys.Close()
	r.store.fault = ""
	r.mount()
	r.compare()
	r.close()
}
