package splitfscheck

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// fill is an operation near the limit of a region. An append has no offset, and a
// truncation no data.
type fill struct {
	at, n    int
	truncate bool
}

func appends(n int) fill    { return fill{at: -1, n: n} }
func writes(at, n int) fill { return fill{at: at, n: n} }
func cutTo(n int) fill      { return fill{at: n, truncate: true} }

// fillings are for a region of 1024 bytes that cannot grow; a header takes 24 of them. The last operation of
// each just fits, but does not if operation grows has one byte more; -1: there is none.
var fillings = []struct {
	what  string
	ops   []fill
	grows int // the operation that gets one byte more
}{
	{"an append", []fill{appends(1000)}, 0},
	{"two appends", []fill{appends(500), appends(476)}, 1},
	{"a truncation", []fill{appends(976), cutTo(10)}, 0},
	{"a truncation to the current length", []fill{appends(1000), cutTo(1000)}, -1},
	{"an overwrite of the last frame", []fill{appends(976), writes(5, 1)}, 0},
	{"an overwrite that extends the file", []fill{appends(942), writes(932, 20)}, 1},
	{"an overwrite of other frames", []fill{appends(476), appends(500), writes(5, 400)}, -1},
	{"an overwrite up to the last frame", []fill{appends(476), appends(500), writes(76, 400)}, -1},
	{"an overwrite of two frames", []fill{appends(476), appends(476), writes(470, 100)}, 1},
	{"a second overwrite of the last frame", []fill{appends(476), appends(476), writes(470, 100), writes(480, 3)}, -1},
	{"an overwrite for which the frames are joined", []fill{appends(300), appends(300), appends(300), appends(28), writes(905, 1)}, -1},
	{"an overwrite for which they would have to be", []fill{appends(300), appends(300), appends(328), writes(900, 1)}, 2},
	{"a cut for which the frames are joined", []fill{appends(300), appends(300), appends(300), appends(28), cutTo(900)}, -1},
	{"a cut for which they would have to be", []fill{appends(300), appends(300), appends(328), cutTo(900)}, 2},
	{"a hole", []fill{appends(10), writes(975, 1)}, 1},
	{"a truncation to a larger length", []fill{appends(10), cutTo(976)}, 1},
	{"an append to a file that was emptied", []fill{appends(990), cutTo(0), appends(976)}, 2},
	{"an append to a file that was cut", []fill{appends(400), cutTo(300), appends(552)}, -1},
}

// exact fills regions to the last byte, and beyond.
func exact(r *run) {
	cfg := r.config()
	cfg.MaxRegion = cfg.Region
	var err error
	r.fsys, err = splitfs.New(cfg)
	r.want("mount", err, nil)
	for _, x := range fillings {
		r.filled(x.what, x.ops, -1, 0)
		if x.grows >= 0 {
			r.filled(x.what, x.ops, x.grows, 1)
		}
	}
	r.fsys.Close()
	cfg.Region, cfg.MaxRegion = 1100, 2048
	r.fsys, err = splitfs.New(cfg)
	r.want("mount", err, nil)
	r.filled("a file of 1024 bytes, which makes room for one header more", []fill{appends(1024), appends(927)}, -1, 0)
	r.filled("a file of 1024 bytes, which makes room for one header more", []fill{appends(1024), appends(927)}, 1, 1)
	r.filled("a file of 1023 bytes", []fill{appends(1023), appends(929)}, -1, 0)
	r.filled("a truncation to a larger length, in a larger region", []fill{appends(10), cutTo(1952)}, -1, 0)
	r.fsys.Close()
	r.grown()
}

// filled applies the operations to a new file; the last one fits if more is 0.
func (r *run) filled(what string, ops []fill, grows, more int) {
	f := r.opens("a.log", os.O_RDWR|os.O_CREATE)
	var want []byte
	for i, o := range ops {
		if i == grows && o.truncate {
			o.at += more
		} else if i == grows {
			o.n += more
		}
		now, err := o.apply(f, want, byte('a'+i))
		if i < len(ops)-1 || more == 0 {
			r.want(fmt.Sprintf("%s, operation %d", what, i+1), err, nil)
			want = now
		} else {
			r.want(what+" and a byte more", err, splitfs.ErrNoSpace)
		}
	}
	got, err := content(f)
	r.that(err == nil && bytes.Equal(got, want), "%s: %d bytes are %s, want %d, %s: %v", what, len(got), runsOf(string(got)), len(want), runsOf(string(want)), err)
	r.want("close and remove", errors.Join(f.Close(), r.fsys.Remove("a.log")), nil)
}

// apply executes o, and returns the expected content.
func (o fill) apply(f *splitfs.File, old []byte, letter byte) ([]byte, error) {
	p := bytes.Repeat([]byte{letter}, o.n)
	now := append([]byte(nil), old...)
	var err error
	switch {
	case o.truncate:
		err = f.Truncate(int64(o.at))
		return append(now[:min(o.at, len(now))], make([]byte, max(0, o.at-len(now)))...), err
	case o.at < 0:
		_, err = f.Append(p)
		return append(now, p...), err
	}
	_, err = f.WriteAt(p, int64(o.at))
	return written(now, p, o.at), err
}

// grown checks the sizes of larger regions: each is twice as large as the one before, up to the limit.
func (r *run) grown() {
	for _, x := range []struct{ region, most, first, then, want int }{
		{1024, 1 << 20, 600, 500, 4096},
		{1024, 1 << 20, 1, 1000, 4096},
		{1024, 1 << 20, 0, 1951, 4096},
		{1024, 1 << 20, 0, 1952, 4096},
		{1024, 1 << 20, 0, 1953, 8192},
		{1024, 3000, 600, 1500, 3000},
	} {
		cfg := r.config()
		cfg.Region, cfg.MaxRegion = x.region, x.most
		var err error
		r.fsys, err = splitfs.New(cfg)
		r.want("mount", err, nil)
		f := r.opens("a.log", os.O_RDWR|os.O_CREATE)
		var want []byte
		for i, n := range []int{x.first, x.then} {
			p := make([]byte, n)
			for j := range p {
				p[j] = byte(j*7 + j>>8 + i)
			}
			_, err := f.Append(p)
			r.want("append", err, nil)
			want = append(want, p...)
		}
		got := make([]byte, len(want))
		_, err = f.ReadAt(got, 0)
		r.that(err == nil && bytes.Equal(got, want), "after growth %d bytes are not those that were written: %v", len(want), err)
		for _, o := range r.store.objects { //lint:ordered there is one
			r.that(len(o.data) == x.want, "%d and %d bytes are in a region of %d, want %d", x.first, x.then, len(o.data), x.want)
		}
		r.want("close and remove", errors.Join(f.Close(), r.fsys.Remove("a.log")), nil)
		r.fsys.Close()
	}
}
