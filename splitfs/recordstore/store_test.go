package recordstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/recordstore"
)

const logSize = 16 << 10

func open(t interface{ Fatal(...any) }, h *pmemhost.Host, size int) *recordstore.Store {
	log, err := arcadia.Open(h, arcadia.Config{Name: "files", Size: size})
	if err != nil {
		t.Fatal(err)
	}
	s, err := recordstore.Open(h, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type crashed struct{}

// life is a store and its expected content.
type life struct {
	t    *rapid.T
	h    *pmemhost.Host
	s    *recordstore.Store
	want map[string][]byte
	n    int
	done []string
}

// runs runs f, perhaps until the process or the power fails, and reports whether f succeeded.
func (l *life) runs(what string, f func() error) (whole bool) {
	l.done = append(l.done, what)
	defer func() {
		l.h.After(0, nil)
		if x := recover(); x != nil {
			if _, is := x.(crashed); !is {
				panic(x)
			}
			l.restart()
		}
	}()
	if rapid.IntRange(0, 3).Draw(l.t, "crash?") == 0 {
		l.h.After(rapid.IntRange(1, 400).Draw(l.t, "after"), func() { panic(crashed{}) })
	}
	switch err := f(); {
	case errors.Is(err, recordstore.ErrFull):
		return false // f had no effect
	case err != nil:
		l.t.Fatalf("%s: %v", strings.Join(l.done, "\n"), err)
	}
	return true
}

// restart starts the next process, whose recovery may fail too.
func (l *life) restart() {
	evicted := func(int) bool { return rapid.Bool().Draw(l.t, "evicted") }
	if rapid.Bool().Draw(l.t, "process") {
		evicted = nil
	}
	l.h = l.h.Crash(evicted)
	l.runs("open", func() error { l.s = open(l.t, l.h, logSize); return nil })
}

// check compares the objects with their expected content. The interrupted operation on object but, if any, may have
// taken effect or not.
func (l *life) check(but string, off int, data []byte) {
	for name, want := range maps.Clone(l.want) { //lint:ordered each is compared
		o, err := l.s.Recover(name)
		if name == but && data == nil && errors.Is(err, fs.ErrNotExist) {
			delete(l.want, name)
			continue
		}
		if err != nil || o.Size() != len(want) {
			l.t.Fatalf("%s\n%s: %v", strings.Join(l.done, "\n"), name, err)
		}
		got := make([]byte, len(want))
		if _, err := o.ReadAt(got, 0); err != nil {
			l.t.Fatal(err)
		}
		for i := range got {
			if got[i] != want[i] && (name != but || i < off || i >= off+len(data) || got[i] != data[i-off]) {
				l.t.Fatalf("%s\n%s: byte %d is %d, want %d", strings.Join(l.done, "\n"), name, i, got[i], want[i])
			}
		}
		copy(want, got)
	}
}

// Objects hold the recorded data, whatever fails at whatever step.
func TestObjectsHoldWhatWasRecorded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &life{t: t, h: pmemhost.New(), want: map[string][]byte{}}
		l.s = open(t, l.h, logSize)
		for range rapid.IntRange(1, 60).Draw(t, "ops") {
			names := slices.Sorted(maps.Keys(l.want))
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op == 0 && len(names) < 3 || len(names) == 0:
				l.n++
				name, size := fmt.Sprintf("o%d", l.n), rapid.IntRange(0, 2000).Draw(t, "size")
				l.want[name] = make([]byte, size)
				if !l.runs("create "+name, func() error { _, err := l.s.Create(name, size); return err }) {
					l.check(name, 0, nil)
				}
			case op == 1:
				name := rapid.SampledFrom(names).Draw(t, "name")
				if o, _ := l.s.Recover(name); l.runs("release "+name, o.Release) {
					delete(l.want, name)
				} else {
					l.check(name, 0, nil)
				}
			case op == 2:
				l.done = append(l.done, "restart")
				l.restart()
			default:
				name := rapid.SampledFrom(names).Draw(t, "name")
				size := len(l.want[name])
				off := rapid.IntRange(0, size).Draw(t, "off")
				data := make([]byte, rapid.IntRange(0, size-off).Draw(t, "n"))
				for i := range data {
					data[i] = byte(rapid.IntRange(0, 255).Draw(t, "b"))
					if i > 8 {
						data[i] = data[i%8] + byte(i) // quick to draw
					}
				}
				o, _ := l.s.Recover(name)
				if l.runs(fmt.Sprintf("record %s at %d: %d", name, off, len(data)), func() error { return o.Record(off, data) }) {
					copy(l.want[name][off:], data)
				} else {
					l.check(name, off, data)
				}
			}
			l.check("", 0, nil)
		}
	})
}

// A log accepts overwrites forever, and reports ErrFull if the data do not fit. A full log loses nothing.
func TestRoom(t *testing.T) {
	h := pmemhost.New()
	s := open(t, h, logSize)
	kept, err := s.Create("kept", 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		if err := kept.Record(i%80*100, []byte(fmt.Sprintf("%0100d", i))); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		o, err := s.Create(fmt.Sprint(i), 1<<20)
		if err == nil {
			err = errors.Join(o.Record(1<<19, make([]byte, 500)), o.Release())
		}
		if err != nil {
			t.Fatalf("object %d: %v", i, err)
		}
	}
	large, err := s.Create("large", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = large.Record(n*100, slices.Repeat([]byte{1}, 100))
	}
	if !errors.Is(err, recordstore.ErrFull) || !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, splitfs.ErrStore) || n < 10 {
		t.Fatalf("after %d: %v", n, err)
	}
	if err := large.Release(); err != nil {
		t.Fatal(err)
	}
	s = open(t, h.Crash(func(int) bool { return false }), logSize)
	o, err := s.Recover("kept")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 100)
	for i := 2920; i < 3000; i++ {
		if _, err := o.ReadAt(p, i%80*100); err != nil || string(p) != fmt.Sprintf("%0100d", i) {
			t.Fatalf("%d: %s, %v", i, p, err)
		}
	}
	if _, err := s.Recover("large"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Invalid requests are refused with a reason.
func TestRefused(t *testing.T) {
	h := pmemhost.New()
	s := open(t, h, logSize)
	o, err := s.Create("o", 10)
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string]struct { //lint:ordered each is checked
		err  error
		want error
	}{
		"twice":      {second(s.Create("o", 10)), fs.ErrExist},
		"none":       {second(s.Recover("p")), fs.ErrNotExist},
		"negative":   {second(s.Create("p", -1)), fs.ErrInvalid},
		"long name":  {second(s.Create(strings.Repeat("p", 65), 1)), fs.ErrInvalid},
		"behind":     {o.Record(5, make([]byte, 6)), fs.ErrInvalid},
		"before":     {o.Record(-1, make([]byte, 1)), fs.ErrInvalid},
		"read":       {second(o.ReadAt(make([]byte, 11), 0)), fs.ErrInvalid},
		"gone":       {errors.Join(o.Release()), nil},
		"gone again": {o.Release(), fs.ErrNotExist},
		"write gone": {o.Record(0, []byte{1}), fs.ErrNotExist},
	} {
		if !errors.Is(x.err, x.want) {
			t.Errorf("%s: %v, want %v", what, x.err, x.want)
		}
	}
	small, err := arcadia.Open(h, arcadia.Config{Name: "small", Size: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recordstore.Open(h, small); !errors.Is(err, recordstore.ErrSmall) {
		t.Error(err)
	}
	for _, record := range []string{"a record", strings.Repeat("\x09", 30)} {
		other, err := arcadia.Open(h, arcadia.Config{Name: record, Size: logSize})
		if err == nil {
			_, err = other.Append([]byte(record))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := recordstore.Open(h, other); !errors.Is(err, recordstore.ErrForeign) {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
