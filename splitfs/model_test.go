package splitfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// tree is the model: the content of each file, by its name.
type tree map[string][]byte

// tester runs random operations on a file system and on the model.
type tester struct {
	*rapid.T
	m    *machine
	fsys *splitfs.FS
	want tree
	ncl  map[string]bool // where each file is
	next byte
}

var testNames = []string{"a.log", "b.log", "dir/c.log", "d", "dir/e"}

// Operations on files behave as in a model, whatever crashes in between: completed ones
// have happened, and interrupted ones have happened or not.
func TestRandomOperationsWithCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "pick") }
		c := &tester{T: rt, m: newMachine(pick), want: tree{}, ncl: map[string]bool{}}
		c.mount()
		c.must(c.fsys.Mkdir("dir", 0o755))
		c.must(c.fsys.SyncDir("."))
		rt.Repeat(map[string]func(*rapid.T){
			"write":    func(*rapid.T) { c.crashing(c.write) },
			"append":   func(*rapid.T) { c.crashing(c.append) },
			"truncate": func(*rapid.T) { c.crashing(c.truncate) },
			"rename":   func(*rapid.T) { c.crashing(c.rename) },
			"remove":   func(*rapid.T) { c.crashing(c.remove) },
			"remount":  func(*rapid.T) { c.fsys.Close(); c.mount() },
			"":         func(*rapid.T) { c.compare(c.want) },
		})
	})
}

func (c *tester) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("%v", err)
	}
}

// mount opens the file system, with crashes on the way.
func (c *tester) mount() {
	for {
		c.m.left = rapid.SampledFrom([]int{0, 0, 0, 1, 3, 6, 9}).Draw(c.T, "steps of mount")
		var err error
		if !c.m.run(func() { c.fsys, err = splitfs.New(c.m.config()) }) {
			c.must(err)
			return
		}
	}
}

// step is an operation that has to do with some names; after is what they are to be
// when it has returned, and torn what an unfinished one may leave as well.
type step struct {
	do    func() error
	names []string
	after tree
	ncl   map[string]bool
	torn  func(name string, got []byte) bool
}

// crashing carries out an operation, and may crash on the way.
func (c *tester) crashing(draw func() *step) {
	s := draw()
	if s == nil {
		return
	}
	// Most operations have a few steps, and some many.
	c.m.left = rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 24}).Draw(c.T, "steps until the crash")
	var err error
	if !c.m.run(func() { err = s.do() }) {
		if errors.Is(err, splitfs.ErrNoSpace) {
			c.small(s)
			return
		}
		c.must(err)
		c.want, c.ncl = s.after, s.ncl
		return
	}
	c.mount()
	c.settle(s)
}

// small: a file was refused that is not too large.
func (c *tester) small(s *step) {
	for _, name := range s.names {
		if len(s.after[name]) > 8192-4*24-16 {
			return
		}
	}
	c.Fatalf("there is room for %v", s.names)
}

// settle finds out whether the interrupted operation has happened.
func (c *tester) settle(s *step) {
	got := c.read()
	before, after := true, true
	for _, name := range s.names {
		b, ok := got[name]
		old, was := c.want[name]
		now, is := s.after[name]
		torn := ok && s.torn != nil && s.torn(name, b)
		before = before && (ok == was && bytes.Equal(b, old) || torn)
		after = after && (ok == is && bytes.Equal(b, now) || torn)
	}
	if !before && !after {
		c.Fatalf("after the crash %v are neither as before (%v) nor as afterwards (%v): %v", s.names, c.want, s.after, got)
	}
	want := maps.Clone(c.want)
	for _, name := range s.names {
		delete(want, name)
		if b, ok := got[name]; ok {
			want[name] = b
		}
	}
	c.want = want
	c.ncl = map[string]bool{}
	for name := range want {
		i, err := c.fsys.Stat(name)
		c.must(err)
		c.ncl[name] = i.NCL
	}
	c.compare(want)
}

// read reads all files.
func (c *tester) read() tree {
	got := tree{}
	for _, dir := range []string{".", "dir"} {
		list, err := c.fsys.ReadDir(dir)
		c.must(err)
		for _, e := range list {
			if e.IsDir() {
				continue
			}
			name := path.Join(dir, e.Name())
			f, err := c.fsys.Open(name, os.O_RDONLY, 0)
			c.must(err)
			size, err := f.Size()
			c.must(err)
			st, err := c.fsys.Stat(name)
			c.must(err)
			b := make([]byte, size+3)
			n, err := f.ReadAt(b, 0)
			if int64(n) != size || !errors.Is(err, io.EOF) || st.Size() != size {
				c.Fatalf("%s has %d bytes, by Stat %d, and %d were read: %v", name, size, st.Size(), n, err)
			}
			got[name] = b[:n]
			c.must(f.Close())
		}
	}
	return got
}

// compare compares the file system with the model, and looks for leftovers.
func (c *tester) compare(want tree) {
	got := c.read()
	objects := 0
	for _, name := range testNames {
		b, ok := got[name]
		w, is := want[name]
		if ok != is || !bytes.Equal(b, w) {
			c.Fatalf("%s is %v, %d bytes, want %v, %d bytes\n%v\n%v", name, ok, len(b), is, len(w), b, w)
		}
		if !ok {
			continue
		}
		st, err := c.fsys.Stat(name)
		c.must(err)
		if st.NCL != c.ncl[name] {
			c.Fatalf("%s: on the peers: %v, want %v", name, st.NCL, c.ncl[name])
		}
		if st.NCL {
			objects++
		}
	}
	if n := len(c.m.store.names()); n != objects {
		c.Fatalf("there are %d files on the peers and %d objects: %v", objects, n, c.m.store.names())
	}
	if list, err := c.m.dir.ReadDir(splitfs.Reserved); err != nil || len(list) != 1 {
		c.Fatalf("left over: %v %v", list, err)
	}
}

func (c *tester) draw() (name string, s *step) {
	name = rapid.SampledFrom(testNames).Draw(c.T, "name")
	s = &step{names: []string{name}, after: maps.Clone(c.want), ncl: maps.Clone(c.ncl)}
	if _, ok := c.want[name]; !ok {
		s.ncl[name] = path.Ext(name) == ".log"
	}
	return name, s
}

func (c *tester) data(limit int) []byte {
	c.next++
	return bytes.Repeat([]byte{c.next | 1}, rapid.OneOf(rapid.IntRange(1, 64), rapid.IntRange(1, limit)).Draw(c.T, "bytes"))
}

// with opens a file, lets f change it, and makes it durable.
func (c *tester) with(name string, flag int, f func(*splitfs.File) error) error {
	file, err := c.fsys.Open(name, os.O_RDWR|os.O_CREATE|flag, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := f(file); err != nil {
		return err
	}
	if err := file.Sync(); err != nil || file.NCL() {
		return err
	}
	return c.fsys.SyncDir(path.Dir(name))
}

// change is a step that makes a file what now is. Of a file in the directory a
// crash may leave anything; on the peers any of the bytes that are overwritten are
// old or new, and nothing else.
func (c *tester) change(name string, s *step, now []byte, do func(*splitfs.File) error) *step {
	old := c.want[name]
	s.after[name] = now
	s.do = func() error { return c.with(name, 0, do) }
	s.torn = func(_ string, got []byte) bool {
		if !s.ncl[name] {
			return true
		}
		if len(got) != len(old) && len(got) != len(now) {
			return false
		}
		for i, b := range got {
			if (i >= len(old) || b != old[i]) && (i >= len(now) || b != now[i]) {
				return false
			}
		}
		return true
	}
	return s
}

func (c *tester) write() *step {
	name, s := c.draw()
	old := c.want[name]
	off, p := rapid.IntRange(0, len(old)+20).Draw(c.T, "offset"), c.data(1500)
	now := make([]byte, max(len(old), off+len(p)))
	copy(now, old)
	copy(now[off:], p)
	return c.change(name, s, now, func(f *splitfs.File) error {
		_, err := f.WriteAt(p, int64(off))
		return err
	})
}

func (c *tester) append() *step {
	name, s := c.draw()
	p := c.data(1500)
	return c.change(name, s, append(slices.Clone(c.want[name]), p...), func(f *splitfs.File) error {
		_, err := f.Append(p)
		return err
	})
}

func (c *tester) truncate() *step {
	name, s := c.draw()
	old := c.want[name]
	n := rapid.SampledFrom([]int{0, len(old) / 2, len(old), len(old) + 9}).Draw(c.T, "length")
	now := make([]byte, n)
	copy(now, old)
	s = c.change(name, s, now, func(f *splitfs.File) error { return f.Truncate(int64(n)) })
	if n == 0 && rapid.Bool().Draw(c.T, "by opening") {
		s.do = func() error { return c.with(name, os.O_TRUNC, func(*splitfs.File) error { return nil }) }
	}
	return s
}

func (c *tester) remove() *step {
	name, s := c.draw()
	if _, ok := c.want[name]; !ok {
		if err := c.fsys.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			c.Fatalf("removed %s, which is not there: %v", name, err)
		}
		return nil
	}
	delete(s.after, name)
	delete(s.ncl, name)
	s.do = func() error {
		if err := c.fsys.Remove(name); err != nil {
			return err
		}
		return c.fsys.SyncDir(path.Dir(name))
	}
	return s
}

func (c *tester) rename() *step {
	from, s := c.draw()
	to := rapid.SampledFrom(testNames).Draw(c.T, "to")
	if _, ok := c.want[from]; !ok {
		if err := c.fsys.Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
			c.Fatalf("renamed %s, which is not there: %v", from, err)
		}
		return nil
	}
	if from == to {
		return nil
	}
	s.names = append(s.names, to)
	s.after[to], s.ncl[to] = s.after[from], s.ncl[from]
	delete(s.after, from)
	delete(s.ncl, from)
	s.do = func() error {
		if err := c.fsys.Rename(from, to); err != nil {
			return err
		}
		return c.fsys.SyncDir(".")
	}
	return s
}
