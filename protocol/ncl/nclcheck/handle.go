package nclcheck

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// handleScenarios are about the use of a handle.
func handleScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "handle",
			doc:    "A handle accepts writes and reads of any length within the file, and refuses those outside it, or after Close, with the proper error.",
			faults: "none",
			bounds: "f=0, one peer, send queues of three requests; writes that a card takes inline and writes that it does not, reads at both ends and across, recovery, release, and a file whose peer has revoked its memory, and a Repair with nothing to replace, without the controller",
			load: workload{f: 0, size: 600, queue: 3, script: handling,
				lives: [][]write{{{0, 8}, {8, 300}, {300, 1}, {301, 221}, {522, 78}, {0, 600}, {599, 1}}}},
		}),
		build(spec{
			name:   "worn",
			doc:    "A file has used all sequence numbers but two. It accepts two more writes, and refuses all others, also after a recovery; they change nothing. Writes of no bytes need no number.",
			faults: "none",
			bounds: "f=0, one peer that lends a region with the stamp of the last write but two; recovery, two appends of 8 bytes, a refused one and an empty one, recovery, the same, read back and release",
			load:   workload{f: 0, size: 24, lives: [][]write{{{0, 8}, {8, 8}}}, script: wearingOut, wornOut: true},
		}),
	}
}

// handling uses a handle in every way.
func handling(r *run) {
	use := &scenario.Short{Host: r.h, Once: &scenario.Once{Failed: true}} // fails nothing, and counts the resources
	r.h = use
	f := r.create()
	if f == nil || !r.expect("a new file", f.Stamp() == ncl.MakeStamp(1, 0) && f.Size() == r.load.size && len(f.Peers()) == f.Alive()) {
		return
	}
	content := make([]byte, r.load.size)
	for i, w := range r.writes() {
		data := r.file.data(w)
		copy(content[w.off:], data)
		if !r.issue(f, w, data) || !r.reads(f, content) || !r.expect("a write", f.Stamp() == ncl.MakeStamp(1, uint64(i+1))) {
			return
		}
	}
	if !r.refuses(f, ncl.ErrBounds) {
		return
	}
	for _, off := range []int{0, r.load.size} {
		n, err := f.ReadAt(nil, off)
		if !r.done(f.Record(off, nil)) || !r.done(err) || !r.expect("nothing", n == 0 && f.Stamp() == ncl.MakeStamp(1, uint64(len(r.writes())))) {
			return
		}
	}
	f.Close()
	f.Close() // a second Close does nothing
	if !r.refuses(f, ncl.ErrClosed) || !r.expect("a release after Close", errors.Is(f.Release(), ncl.ErrClosed)) {
		return
	}
	op := r.begins(told{})
	f, err := ncl.Recover(r.h, r.config(), r.file.name)
	if !r.done(err) {
		return
	}
	r.recovered(f, op)
	if !r.reads(f, content) || !r.expect("a recovery", f.Stamp() == ncl.MakeStamp(2, uint64(len(r.writes())))) || !r.done(f.Release()) {
		return
	}
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
		return
	}
	if f = r.create(); f == nil || !r.revoke(f.Peers()[0]) || !r.expect("a write without peers", errors.Is(f.Record(0, content), ncl.ErrUnavailable)) {
		return
	}
	r.tidy(f)
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
		return
	}
	d := depart(r.config().Coord, math.MaxInt)
	cfg := r.config()
	cfg.Coord = d
	if f, err = ncl.Create(r.h, cfg, "other", 8); !r.done(err) {
		return
	}
	d.left = 0 // nothing needs replacing, so no candidate is needed
	r.done(f.Repair())
	f.Close()
	r.expect("a Repair after Close", errors.Is(f.Repair(), ncl.ErrClosed))
}

// reads compares the content with the reads of a handle.
func (r *run) reads(f *ncl.File, content []byte) bool {
	for _, at := range [][2]int{{0, 1}, {7, 2}, {299, 3}, {1, 599}, {599, 1}, {0, 600}} {
		got := make([]byte, at[1])
		n, err := f.ReadAt(got, at[0])
		if !r.done(err) || !r.expect(fmt.Sprintf("a read of %d bytes at %d", at[1], at[0]), n == at[1] && bytes.Equal(got, content[at[0]:][:n])) {
			return false
		}
	}
	return true
}

// refuses expects an error of every access outside the file, and if it is closed also
// inside.
func (r *run) refuses(f *ncl.File, want error) bool {
	size := r.load.size
	list := [][2]int{{-1, 1}, {size, 1}, {size - 1, 2}, {0, size + 1}, {math.MaxInt, 1}, {math.MinInt, 1}, {-1, 0}, {size + 1, 0}}
	if errors.Is(want, ncl.ErrClosed) {
		list = append(list, [2]int{0, 1}, [2]int{0, 0})
	}
	for _, at := range list {
		before := f.Stamp()
		n, err := f.ReadAt(make([]byte, at[1]), at[0])
		failed := f.Record(at[0], make([]byte, at[1]))
		if !r.expect(fmt.Sprintf("%d bytes at %d: %v and %v", at[1], at[0], err, failed),
			errors.Is(err, want) && errors.Is(failed, want) && n == 0 && f.Stamp() == before) {
			return false
		}
	}
	return true
}

// expect fails the run unless ok.
func (r *run) expect(what string, ok bool) bool {
	if !ok {
		r.Fail(misjudged(what, errors.New("the expectation does not hold")))
	}
	return ok
}
