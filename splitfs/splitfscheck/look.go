package splitfscheck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// compare compares all names and contents with the model, and looks for leftovers.
func (r *run) compare() {
	got := r.read()
	for _, name := range r.all(got) {
		if !r.model.same(got, name, false) {
			r.Failf("wrong", "%s is %v, want %v", name, got[name], r.model.names[name])
		}
	}
	r.compareHeld()
	r.leftover()
}

// compareHeld compares the files that are held open without a name.
func (r *run) compareHeld() {
	for _, key := range r.model.held.sorted() {
		if b, err := content(r.held[key]); err != nil || !bytes.Equal(b, r.model.held[key].data) {
			r.Failf("wrong", "the file held as %s is %q (%v), want %q", key, b, err, r.model.held[key].data)
		}
	}
}

// all returns the names that exist or should exist, sorted, so that every run reports the same
// one of two wrong names.
func (r *run) all(got tree) []string {
	all := append(got.sorted(), r.model.names.sorted()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// settle determines the result of the interrupted operation, and updates the model.
func (r *run) settle(crashed bool) {
	got := r.read()
	old, u := &r.model, r.underWay
	touched := map[string]bool{}
	if u != nil {
		before, after := true, true
		for _, name := range u.names {
			touched[name] = true
			torn := name == u.torn && partly(old.names[name], u.after.names[name], got[name])
			before = before && (torn || old.same(got, name, crashed))
			after = after && (torn || u.after.same(got, name, crashed))
		}
		if !before && !after {
			r.Failf("half-done", "%s was in progress, and %v are neither as before nor as after the operation: %v; before %v, after %v",
				u.text, u.names, got, old.names, u.after.names)
		}
		r.became(u, got, crashed)
	}
	for _, name := range r.all(got) {
		if !touched[name] && !old.same(got, name, crashed) {
			r.Failf("lost", "%s is %v, and was %v", name, got[name], old.names[name])
		}
	}
	r.adopt(got, touched, crashed)
	r.leftover()
}

// became records the conditions that the result of an operation meets.
func (r *run) became(u *change, got tree, crashed bool) {
	before, after := true, true
	for _, name := range u.names {
		before = before && r.model.same(got, name, false)
		after = after && u.after.same(got, name, false)
	}
	switch {
	case !crashed || before && after:
	case before:
		r.Meet(sawBefore)
	case after:
		r.Meet(sawAfter)
	default:
		r.Meet(sawPart)
	}
}

// adopt sets the model to the observed content. After a crash all of it is durable.
func (r *run) adopt(got tree, touched map[string]bool, crashed bool) {
	if u := r.underWay; u != nil && !crashed && r.matches(&u.after, got, u.names) {
		r.model = u.after
	} else if crashed || u != nil && !r.matches(&r.model, got, u.names) {
		for _, name := range r.all(got) {
			if crashed || touched[name] {
				r.model.adopt(got, name)
			}
		}
	}
	for name := range touched {
		r.model.hazy[name] = true
		if f := r.model.names[name]; f != nil {
			f.loose = !f.ncl && !crashed
		}
	}
	if crashed {
		clear(r.model.hazy)
	}
	maps.DeleteFunc(r.model.held, func(key string, _ *file) bool { return r.held[key] == nil })
	r.underWay = nil
	r.note("settled")
}

// matches reports whether got agrees with the model at the given names.
func (r *run) matches(x *model, got tree, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !x.same(got, name, false) })
}

// read reads all files, and starts again if one of its calls was made to fail.
func (r *run) read() tree {
	before := r.failures
	got, err := r.readAll()
	if err != nil && r.failures < before {
		got, err = r.readAll()
	}
	if err != nil {
		r.Failf("unavailable", "the existing files cannot be read: %v", err)
	}
	return got
}

func (r *run) readAll() (tree, error) {
	got := tree{}
	folders := []string{"."}
	for i := 0; i < len(folders); i++ {
		list, err := r.fsys.ReadDir(folders[i])
		if err != nil {
			return got, err
		}
		for _, e := range list {
			name := path.Join(folders[i], e.Name())
			if e.IsDir() {
				folders = append(folders, name)
				continue
			}
			if got[name], err = r.readFile(name); err != nil {
				return got, err
			}
		}
	}
	return got, nil
}

func (r *run) readFile(name string) (*file, error) {
	st, err := r.fsys.Stat(name)
	if err != nil {
		return nil, err
	}
	f, err := r.fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	b, err := content(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	if st.Size() != int64(len(b)) || st.NCL != f.NCL() || f.Name() != name {
		return nil, fmt.Errorf("%s: Stat says %d bytes, on the peers: %v; the file %s has %d, on the peers: %v", name, st.Size(), st.NCL, f.Name(), len(b), f.NCL())
	}
	return &file{data: b, ncl: st.NCL, perm: st.Mode().Perm()}, nil
}

// content reads an open file, at once and in pieces.
func content(f *splitfs.File) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	all := make([]byte, size+3)
	n, err := f.ReadAt(all, 0)
	if int64(n) != size || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("of %d bytes %d were read: %w", size, n, errors.Join(err))
	}
	all = all[:n]
	for at := 0; at <= n; at += max(1, n/40) {
		for _, want := range []int{1, 3, n - at} {
			p := bytes.Repeat([]byte{'?'}, want)
			k, err := f.ReadAt(p, int64(at))
			if k != min(want, n-at) || !bytes.Equal(p[:k], all[at:at+k]) || (err != nil) != (k < want || k == 0 && at >= n) {
				return nil, fmt.Errorf("of %d bytes at %d, %d were read as %q: %w; all are %q", want, at, k, p, errors.Join(err), all)
			}
		}
	}
	return all, nil
}

// leftover looks for objects without a file, and for splitfs's own files that request
// work. Failed operations may leave some until the next mount.
func (r *run) leftover() {
	if !r.intact() || r.load.peers > 0 {
		return
	}
	for _, own := range []struct {
		name string
		mode fs.FileMode
	}{{splitfs.Reserved, 0o700}, {splitfs.Reserved + "/life", 0o600}} {
		st, err := r.dir.mem.Stat(own.name)
		r.that(err == nil && st.Mode().Perm() == own.mode, "%s is open to others: %v, %v", own.name, st, err)
	}
	files, orphans := map[*file]bool{}, 0
	for _, t := range []tree{r.model.names, r.model.held} {
		for _, f := range t { //lint:ordered a set
			files[f] = files[f] || f.ncl
		}
	}
	want := 0
	for f, ncl := range files { //lint:ordered a count
		if ncl {
			want++
			if !r.named(f) {
				orphans++
			}
		}
	}
	if n := len(r.store.objects); n != want {
		r.Failf("leaked", "there are %d files on the peers and %d objects: %v", want, n, r.store.names())
	}
	if list, err := r.dir.mem.ReadDir(splitfs.Reserved); err != nil || len(list) != 1+orphans {
		r.Failf("leaked", "%d files are unlinked and open, and in %s there are %v %v", orphans, splitfs.Reserved, list, err)
	}
}

// named reports whether a file has a name.
func (r *run) named(f *file) bool {
	for _, g := range r.model.names { //lint:ordered a search
		if f == g {
			return true
		}
	}
	return false
}

func (f *file) String() string {
	if f == nil {
		return "not there"
	}
	where := "the directory"
	if f.ncl {
		where = "the peers"
	}
	return fmt.Sprintf("%s (%d bytes, %v) on %s", runsOf(string(f.data)), len(f.data), f.perm, where)
}
