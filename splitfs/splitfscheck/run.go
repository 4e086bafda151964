package splitfscheck

import (
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// run is one life of the application.
type run struct {
	*memory
	fsys *splitfs.FS
	held map[string]*splitfs.File
	// shaken are files that were held open when a call failed: the state of their names
	// is unknown, so they may accept no more.
	shaken map[string]bool
	// logged counts failed cleanups; expecting: the script expects them.
	logged    int
	expecting bool
	// whole is the number of failures that were left before the file system was mounted.
	whole int
}

// intact: nothing has failed since.
func (r *run) intact() bool { return r.failures == r.whole }

// main is a life. An even life runs the program; an odd life determines what the crash of
// the previous life has left, so that states that differ only in their history are merged.
func (m *memory) main(h host.Host, life int) {
	m.h = h
	if life%2 == 1 {
		if m.mounting {
			m.Meet(sawMountCrash)
		}
		m.mounting = false // the next life has yet to begin
		m.crash()
		return
	}
	m.begins()
	r := &run{memory: m, held: map[string]*splitfs.File{}, shaken: map[string]bool{}}
	if m.load.script != nil {
		m.load.script(r)
		return
	}
	r.program(life)
}

// program runs the remaining steps, and checks what the next mount finds.
func (r *run) program(life int) {
	r.mount()
	if life > 0 {
		r.settle(true)
		if r.next > 0 && r.load.again && life == 2 && r.h.Rand(2) == 1 {
			r.next--
			r.note("again")
		}
	}
	for r.next < len(r.load.program) {
		alternatives := r.load.program[r.next]
		r.next++
		r.exposed = r.exposed || r.next > r.load.calm
		i := r.h.Rand(len(alternatives))
		r.note("chooses", strconv.Itoa(i))
		alternatives[i](r)
		switch {
		case r.underWay != nil: // a call has failed
			r.settle(false)
		case !r.load.blind:
			r.compare()
		}
	}
	r.remount()
	r.compare()
	r.close()
}

// mount opens the file system, and tries again if a call was made to fail.
func (r *run) mount() {
	r.mounting = true
	r.note("mounts")
	for again := false; ; again = true {
		before := r.failures
		if list, err := r.dir.mem.ReadDir(splitfs.Reserved); err == nil && len(list) > 1 {
			r.Meet(sawLeftover)
		}
		fsys, err := splitfs.New(r.config())
		if err == nil {
			r.fsys, r.whole = fsys, before
			break
		}
		if again || r.failures == before {
			r.Failf("unavailable", "the file system cannot be mounted: %v", err)
			break
		}
	}
	r.mounting = false
	r.note("mounted")
}

func (r *run) config() splitfs.Config {
	return splitfs.Config{Dir: splitfs.OwnDir(&r.dir, &r.right), Store: splitfs.OwnStore(r.objects(), &r.right), Patterns: []string{"*.log", "dir/?.w"}, Region: 1024, MaxRegion: max(r.load.maxRegion, 1024),
		NewMutex: func() sync.Locker { return r.h.NewMutex() }, Logf: func(format string, args ...any) {
			r.h.Logf(format, args...)
			r.logged++
			if r.failures == r.load.failures && !r.expecting {
				r.Failf("leaked", format, args...)
			}
		}}
}

// objects returns where ncl files go.
func (r *run) objects() splitfs.Store {
	if r.load.peers > 0 {
		return r.ncl()
	}
	return &r.store
}

// close closes open files, and the file system.
func (r *run) close() {
	r.drop(slices.Sorted(maps.Keys(r.held))...)
	r.fsys.Close()
	if n := r.dir.open; n != 0 {
		r.Failf("leaked", "%d files of the directory are open after the file system was closed", n)
	}
	if n := r.store.handles; n != 0 {
		r.Failf("leaked", "%d objects are open after the file system was closed", n)
	}
}

// drop closes files that are held.
func (r *run) drop(keys ...string) {
	for _, key := range keys {
		if err := r.held[key].Close(); err != nil && r.intact() {
			r.Failf("unavailable", "%v", err)
		}
		delete(r.held, key)
		delete(r.shaken, "@"+key)
		delete(r.model.held, key)
		r.note("drop", key)
	}
}

func (r *run) remount() {
	r.close()
	r.mount()
}

// change executes an operation, and returns the result of do.
func (r *run) change(u change, do func() error, after func(x *model)) error {
	u.after = r.model.clone()
	after(&u.after)
	r.underWay = &u
	r.note("begins", u.text)
	op := r.told.Begin("app", u.text)
	if r.exposed {
		r.h.Logf("begins: %s", u.text)
	}
	before := r.failures
	err := do()
	if err == nil {
		op.End("returns")
	} else {
		op.End(err)
	}
	switch {
	case err == nil:
		r.durable(&u, before)
		r.model, r.underWay = u.after, nil
		r.note("returns")
	case r.failures < before:
		r.Meet(sawFailure)
		r.onceMore(do)
	case r.shaken[u.at]:
		r.Meet(sawShaken)
		r.drop(strings.TrimPrefix(u.at, "@"))
	case errors.Is(err, splitfs.ErrNoSpace):
		r.Meet(sawNoSpace)
		r.underWay = nil
		r.note("refused")
		r.small(&u)
	default:
		r.Failf("unavailable", "%s: %v", u.text, err)
	}
	return err
}

// onceMore repeats an operation that failed because a call failed. A file whose write failed
// accepts the operation now, or reports that it accepts no more.
func (r *run) onceMore(do func() error) {
	for key := range r.held { //lint:ordered a set
		r.shaken["@"+key] = true
	}
	u := r.underWay
	if f := r.model.file(u.at); f == nil || !f.ncl {
		return
	}
	switch err := do(); {
	case err == nil:
		r.model, r.underWay = u.after, nil
		r.note("returns")
	case !errors.Is(err, splitfs.ErrFailed):
		r.Failf("nonsense", "%s, repeated after it had failed: %v, want ErrFailed", u.text, err)
	default:
		r.Meet(sawRefusing)
		r.drop(slices.Sorted(maps.Keys(r.held))...)
	}
}

// durable checks that the names that u changed are durable, if u concerned an ncl file and nothing had failed before.
func (r *run) durable(u *change, left int) {
	ncl := func(x *model) bool { return slices.ContainsFunc(u.names, x.ncl) }
	if left != r.whole || !ncl(&u.after) && !ncl(&r.model) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.dir.unsynced)) {
		own := path.Dir(name) == splitfs.Reserved || slices.Contains(u.names, name) && !u.after.hazy[name]
		if own {
			r.Failf("unsynced", "%s has returned, but the name %s is not synced", u.text, name)
		}
	}
}

// small checks that u, which was refused for its size, was too large.
func (r *run) small(u *change) {
	const frames = 5 * 24
	for _, name := range u.names {
		if f := u.after.file(name); f != nil && len(f.data)+frames > r.config().MaxRegion {
			return
		}
	}
	r.Failf("unavailable", "%s: there is room, but the error is ErrNoSpace", u.text)
}

// open opens a file for a step, and creates it if it does not exist.
func (r *run) open(at string) (f *splitfs.File, done func(), err error) {
	if key, ok := strings.CutPrefix(at, "@"); ok {
		return r.held[key], func() {}, nil
	}
	if r.model.names[at] == nil {
		err = r.create(at, 0)
	}
	if err == nil {
		f, err = r.fsys.Open(at, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
