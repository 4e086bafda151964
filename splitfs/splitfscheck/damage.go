package splitfscheck

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// damage is a change of the directory that the file system does not make, with its
// expected effect.
type damage struct {
	what string
	do   func(r *run, id string)
	// mount and open are the expected errors of a mount, and of an open of a.log after it.
	mount, open error
	// gone: the file a.log is missing. If other has a name, it exists instead.
	gone  bool
	other string
}

const reserved = splitfs.Reserved + "/"

// intentOf returns a file in the reserved folder that records the replacement of an object.
func intentOf(at string) string { return fmt.Sprintf("%08x %s", crc32.ChecksumIEEE([]byte(at)), at) }

const lastButOne = "the number is the second largest"

var none = "0000ffff.00000001" // no object

// damages are ways to damage a directory that has the file a.log, stored in object id.
var damages = []damage{
	{what: "nothing", do: func(*run, string) {}},
	{what: "the number is a word", do: life("what?"), mount: splitfs.ErrCorrupt},
	{what: "the number is empty", do: life(""), mount: splitfs.ErrCorrupt},
	{what: "the number is negative", do: life("-1\n"), mount: splitfs.ErrCorrupt},
	{what: "the number is too large", do: life("4294967296\n"), mount: splitfs.ErrCorrupt},
	{what: "the number is the largest", do: life("4294967295\n"), mount: splitfs.ErrCorrupt},
	{what: lastButOne, do: life("4294967294\n")},
	{what: "the number has blanks around it", do: life(" 7 ")},
	{what: "there is no object", do: func(r *run, id string) { delete(r.store.objects, id) }, open: splitfs.ErrCorrupt},
	{what: "a file looks like a stub of something else", do: plain("other", "verbatim-splitfs-2 "+none+"\n"), other: "other"},
	{what: "a file looks like a stub without an end", do: plain("other", "verbatim-splitfs-1 "+none+"."), other: "other"},
	{what: "a file looks like a stub of a shorter name", do: plain("other", "verbatim-splitfs-1  "+none[1:]+"\n"), other: "other"},
	{what: "a file is longer than a stub", do: plain("other", "verbatim-splitfs-1 "+none+"0\n"), other: "other"},
	{what: "a file of the length of a stub has no blank", do: plain("other", strings.Repeat("x", 37)), other: "other"},
	{what: "an object that was being made", do: plain(reserved+none, "stub")},
	{what: "an object that was being removed", do: func(r *run, id string) {
		_ = r.dir.mem.Rename("a.log", reserved+id)
		_ = r.dir.mem.SyncDir(".")
	}, gone: true},
	{what: "an intent that was not carried out", do: func(r *run, id string) { r.dir.put(reserved+id+".replaced", intentOf("a.log")) }},
	{what: "an intent that was carried out", do: func(r *run, id string) {
		r.dir.put(reserved+id+".replaced", intentOf("a.log"))
		r.dir.put("a.log", "another one")
	}, gone: true, other: "a.log"},
	{what: "an intent whose file is missing", do: func(r *run, id string) {
		r.dir.put(reserved+id+".replaced", intentOf("a.log"))
		_ = r.dir.mem.Remove("a.log")
		_ = r.dir.mem.SyncDir(".")
	}, gone: true},
	{what: "an intent that is incomplete", do: func(r *run, id string) { r.dir.put(reserved+id+".replaced", intentOf("b.log")[:12]) }},
	{what: "an intent without a blank", do: func(r *run, id string) { r.dir.put(reserved+id+".replaced", "b.log") }},
	{what: "an intent whose sum is wrong", do: func(r *run, id string) { r.dir.put(reserved+id+".replaced", "00000000 b.log") }},
}

func life(text string) func(*run, string) { return plain(reserved+"life", text) }

func plain(name, text string) func(*run, string) {
	return func(r *run, _ string) { r.dir.put(name, text) }
}

// damaging mounts a directory that was changed.
func damaging(r *run) {
	r.mount()
	both(add("a.log", 3), add("b.log", 2))(r)
	r.close()
	x := damages[r.h.Rand(len(damages))]
	r.note("damaged", x.what)
	x.do(r, r.store.names()[0])
	number := string(r.dir.content(reserved + "life"))
	fsys, err := splitfs.New(r.config())
	r.want(x.what+": mount", err, x.mount)
	if x.mount != nil {
		r.that(fsys == nil && string(r.dir.content(reserved+"life")) == number, "%s: the number has changed", x.what)
		return
	}
	r.fsys, r.whole = fsys, r.failures
	if x.open != nil {
		r.unusable(x)
		return
	}
	if x.gone {
		delete(r.model.names, "a.log")
	}
	if x.other != "" {
		st, err := r.dir.mem.Stat(x.other)
		r.want(x.what, err, nil)
		r.model.names[x.other] = &file{data: r.dir.content(x.other), perm: st.Mode().Perm()}
	}
	r.compare()
	both(add("a.log", 2), add("b.log", 1), create("c.log", 0))(r)
	if x.what == lastButOne { // the largest number is the only one left
		r.that(string(r.dir.content(reserved+"life")) == "4294967295\n", "the number is %s", r.dir.content(reserved+"life"))
		r.close()
		_, err := splitfs.New(r.config())
		r.want("a mount after the largest number", err, splitfs.ErrCorrupt)
		return
	}
	r.remount()
	r.compare()
	r.close()
}

// unusable checks that a file whose object is missing can be removed, but neither stat'ed nor
// opened.
func (r *run) unusable(x damage) {
	_, open := r.fsys.Open("a.log", os.O_RDWR, 0)
	_, stat := r.fsys.Stat("a.log")
	for _, err := range []error{open, stat} {
		r.want(x.what, err, x.open)
		r.that(!errors.Is(err, fs.ErrNotExist), "%s: %v says that there is no such file", x.what, err)
	}
	_, err := r.fsys.Open("a.log", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0)
	r.want(x.what, err, fs.ErrExist)
	r.want(x.what+": remove", r.fsys.Remove("a.log"), nil)
	delete(r.model.names, "a.log")
	r.compare()
	r.remount()
	r.compare()
}

// lookalike appends n bytes and a copy of the header that truncated the file. If only the copy
// lands and n bytes are appended later, the copy is at the position of the next frame.
func lookalike(name string, n int) step {
	return func(r *run) {
		objects := slices.Collect(maps.Values(r.store.objects)) // there is one
		const cut, header = 32, 24
		p := append(r.data(n), objects[0].data[cut:cut+header]...)
		r.content(name, "append a header to", func(f *splitfs.File) error { return r.wrote(f, p)(f.Append(p)) },
			func(old []byte) []byte { return append(old, p...) })
	}
}
