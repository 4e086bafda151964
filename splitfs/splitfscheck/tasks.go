package splitfscheck

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
)

// taskScenarios are the scenarios in which two tasks use the file system at once.
func taskScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "two-tasks",
			doc:    "Two tasks use the same files: the result equals that of their operations in some order.",
			faults: "none",
			bounds: "one of five pairs of operations by one task, and one of six operations by the other; two files",
			load:   workload{tasks: true, calm: 1, maxRegion: 4096, script: together},
		}),
	}
}

// deed is an operation and its effect on the model. One that must fail has none.
type deed struct {
	text  string
	do    func(r *run) error
	after func(x *model) (fails error)
}

// together runs the operations of two tasks, and then searches for an order that explains the result.
func together(r *run) {
	r.mount()
	both(add("a.log", 3), add("b.log", 2), create("d", 0), hold("one", "a.log"), hold("two", "a.log"))(r)
	first := [][]deed{
		{adds(r, "@one", "x", 2), adds(r, "@one", "y", 1100)},
		{adds(r, "d", "x", 2), adds(r, "d", "y", 3)},
		{renames2("a.log", "b.log"), adds(r, "@one", "y", 1100)},
		{removes("a.log"), adds(r, "@one", "y", 2)},
		{adds(r, "c.log", "x", 2), removes("b.log")},
	}
	second := []deed{adds(r, "@two", "z", 1200), adds(r, "d", "z", 1), renames2("b.log", "a.log"), renames2("a.log", "c.log"), adds(r, "c.log", "z", 2), reads("a.log")}
	mine := first[r.h.Rand(len(first))]
	yours := second[r.h.Rand(len(second))]
	m, c := r.h.NewMutex(), error(nil)
	cond, done := r.h.NewCond(m), false
	r.h.Go("other", func() {
		err := yours.do(r)
		m.Lock()
		c, done = err, true
		cond.Signal()
		m.Unlock()
	})
	results := []error{mine[0].do(r), mine[1].do(r)}
	m.Lock()
	for !done {
		cond.Wait()
	}
	m.Unlock()
	r.explained([]deed{mine[0], mine[1], yours}, append(results, c))
}

// explained finds the first order of three operations that explains the result. The first two are
// operations of the same task, in this order.
func (r *run) explained(ops []deed, results []error) {
	before := r.model.clone()
	r.drop("one", "two")
	got := r.read()
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {2, 0, 1}} {
		x, ok := before.clone(), true
		for _, i := range order {
			fails := ops[i].after(&x)
			ok = ok && (fails == nil) == (results[i] == nil) && (fails == nil || errors.Is(results[i], fails))
		}
		for _, name := range r.all(got) {
			ok = ok && x.same(got, name, false)
		}
		for name := range x.names { //lint:ordered all must be alike
			ok = ok && x.same(got, name, false)
		}
		if ok {
			r.model = x
			clear(r.model.held)
			r.leftover()
			r.remount()
			r.compare()
			r.close()
			return
		}
	}
	r.Failf("wrong", "%s, %s and concurrently %s returned %v: no order explains the files %v", ops[0].text, ops[1].text, ops[2].text, results, got)
}

// adds appends a letter n times to a file, which is created if it does not exist.
func adds(r *run, at, letter string, n int) deed {
	p := strings.Repeat(letter, n)
	return deed{"append " + letter + " to " + at, func(r *run) error {
		f := r.held[strings.TrimPrefix(at, "@")]
		if f == nil {
			var err error
			if f, err = r.fsys.Open(at, os.O_RDWR|os.O_CREATE, perm); err != nil {
				return err
			}
			defer f.Close()
		}
		_, err := f.Append([]byte(p))
		return err
	}, func(x *model) error {
		f := x.file(at)
		if f == nil {
			f = &file{ncl: matches(at), perm: perm}
			x.names[at] = f
		}
		f.data = append(f.data[:len(f.data):len(f.data)], p...)
		return nil
	}}
}

func renames2(from, to string) deed {
	return deed{"rename " + from + " to " + to, func(r *run) error { return r.fsys.Rename(from, to) }, func(x *model) error {
		if x.names[from] == nil {
			return fs.ErrNotExist
		}
		x.move(from, to)
		return nil
	}}
}

func removes(name string) deed {
	return deed{"remove " + name, func(r *run) error { return r.fsys.Remove(name) }, func(x *model) error {
		if x.names[name] == nil {
			return fs.ErrNotExist
		}
		delete(x.names, name)
		return nil
	}}
}

// reads reads a file, whatever it holds.
func reads(name string) deed {
	return deed{"read " + name, func(r *run) error {
		st, err := r.fsys.Stat(name)
		if err == nil && !st.NCL {
			r.Failf("wrong", "%s is not on the peers", name)
		}
		return err
	}, func(x *model) error {
		if x.names[name] == nil {
			return fs.ErrNotExist
		}
		return nil
	}}
}
