package splitfscheck

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// file is an expected file, or one that was found.
type file struct {
	data []byte
	ncl  bool
	perm fs.FileMode
	// loose: the file is in the directory and has changed since the last sync.
	loose bool
}

// tree maps names to files.
type tree map[string]*file

// model is the expected state of the file system: its files, and those that are held
// open.
type model struct {
	names tree
	held  tree
	// hazy are names in the directory that have changed since their folder was synced.
	hazy map[string]bool
}

func newModel() model { return model{tree{}, tree{}, map[string]bool{}} }

// clone returns a copy of the model. A file that is held under a name stays one file.
func (x *model) clone() model {
	y := newModel()
	maps.Copy(y.hazy, x.hazy)
	copies := map[*file]*file{}
	for _, at := range []struct{ from, to tree }{{x.names, y.names}, {x.held, y.held}} {
		for name, f := range at.from { //lint:ordered every file has one copy
			if copies[f] == nil {
				c := *f
				copies[f] = &c
			}
			at.to[name] = copies[f]
		}
	}
	return y
}

func (t tree) sorted() []string { return slices.Sorted(maps.Keys(t)) }

func (x *model) print() (p fingerprint.Print) {
	for _, t := range []tree{x.names, x.held} {
		for _, name := range t.sorted() {
			f := t[name]
			p = p.String(name).Bytes(f.data).Bool(f.ncl).Uint(uint64(f.perm)).Bool(f.loose)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.hazy)) {
		p = p.String(name)
	}
	return p
}

// file returns the file with a name, or the one that is held as @key.
func (x *model) file(at string) *file {
	if key, ok := strings.CutPrefix(at, "@"); ok {
		return x.held[key]
	}
	return x.names[at]
}

// set sets the content of f to data.
func (f *file) set(data []byte) {
	f.data = data
	f.loose = !f.ncl
}

// move renames from and everything in it.
func (x *model) move(from, to string) {
	if from == to {
		return
	}
	durable := x.ncl(from) || x.ncl(to)
	for _, name := range x.below(from) {
		now := to + strings.TrimPrefix(name, from)
		x.names[now] = x.names[name]
		delete(x.names, name)
		if !durable {
			x.hazy[name], x.hazy[now] = true, true
		}
	}
}

// ncl reports whether this is a file on the peers.
func (x *model) ncl(name string) bool { return x.names[name] != nil && x.names[name].ncl }

func (x *model) below(name string) []string {
	return slices.DeleteFunc(x.names.sorted(), func(s string) bool { return s != name && !strings.HasPrefix(s, name+"/") })
}

// synced: the names in a folder are durable.
func (x *model) synced(folder string) {
	maps.DeleteFunc(x.hazy, func(name string, _ bool) bool { return path.Dir(name) == folder })
}

// change is an operation in progress: its effect on the model when it completes.
type change struct {
	text  string
	at    string   // the file that is written to, as steps name it
	names []string // that it may change
	after model
	// torn: it may have overwritten a part of the file with this name.
	torn string
}

func (u *change) print() fingerprint.Print {
	p := fingerprint.Print{}.String(u.text).String(u.torn).Print(u.after.print())
	for _, name := range u.names {
		p = p.String(name)
	}
	return p
}

// same reports whether what was found under a name matches the model. After a crash
// unsynced data may be anything.
func (x *model) same(got tree, name string, crashed bool) bool {
	f, g := x.names[name], got[name]
	switch {
	case crashed && x.hazy[name]:
		return true
	case f == nil || g == nil:
		return f == nil && g == nil
	case f.ncl != g.ncl || f.perm != g.perm:
		return false
	}
	return crashed && f.loose || bytes.Equal(f.data, g.data)
}

// partly reports whether got is a partly overwritten file of the peers: each existing
// byte is the old or the new one, and appended data is present as a whole or not at all.
func partly(old, now, got *file) bool {
	if old == nil || now == nil || got == nil || !got.ncl || len(now.data) < len(old.data) {
		return false
	}
	if n := len(got.data); n != len(old.data) && n != len(now.data) {
		return false
	}
	for i, b := range got.data {
		if b != now.data[i] && (i >= len(old.data) || b != old.data[i]) {
			return false
		}
	}
	return true
}

// adopt sets the model to the observed content.
func (x *model) adopt(got tree, name string) {
	delete(x.names, name)
	if g := got[name]; g != nil {
		x.names[name] = g
	}
}
