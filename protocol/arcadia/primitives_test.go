package arcadia

import (
	"bytes"
	"errors"
	"testing"
)

// killed runs f until the process crashes before its n-th step, and reports whether it did.
func killed(h *fhost, n int, f func() error) (crashed bool) {
	defer func() {
		h.After(0, nil)
		if v := recover(); v != nil {
			if v != any(crash{}) {
				panic(v)
			}
			crashed = true
		}
	}()
	h.After(n, func() { panic(crash{}) })
	_ = f()
	return false
}

// readTwice crashes a write at each of its steps. What the next process reads must still be there after a power failure.
func readTwice(t *testing.T, begin func(m Store) (write func() error, read func() (string, error))) {
	t.Helper()
	crashes := 0
	for n := 1; ; n++ {
		h := newF()
		open := func() (func() error, func() (string, error)) {
			region, err := h.OpenPMEM("value", 512)
			ok(t, err)
			return begin(Local{region})
		}
		write, read := open()
		if !killed(h, n, write) {
			break
		}
		crashes++
		was, err := read()
		if errors.Is(err, ErrCorrupt) { // the write was cut off: the reader was promised nothing
			continue
		}
		ok(t, err)
		h = h.power(nil)
		_, read = open()
		if is, err := read(); err != nil || is != was {
			t.Errorf("crash at step %d: %.8q is read, and after the power failure %.8q, %v", n, was, is, err)
		}
	}
	if crashes < 5 {
		t.Errorf("the write has only %d steps", crashes)
	}
}

// Reads of the atomicity primitive make durable which buffer counts, and its data.
func TestAtomicReadIsDurable(t *testing.T) {
	readTwice(t, func(m Store) (func() error, func() (string, error)) {
		a := &Atomic{Mem: m, Len: 64}
		if _, err := a.Read(); err != nil { // the first time
			ok(t, errors.Join(a.Write(bytes.Repeat([]byte("a"), 64)), a.Write(bytes.Repeat([]byte("b"), 64))))
		}
		return func() error { return a.Write(bytes.Repeat([]byte("c"), 64)) }, func() (string, error) {
			data, err := a.Read()
			return string(data), err
		}
	})
}

// Reads of the integrity primitive make durable what they return.
func TestReliableReadIsDurable(t *testing.T) {
	readTwice(t, func(m Store) (func() error, func() (string, error)) {
		r := &Reliable{Mem: m, Max: 16}
		return func() error { return r.Write(1, []byte("bbbbbbbbbbbbbbbb")) }, func() (string, error) {
			_, data, err := r.Read()
			return string(data), err
		}
	})
}
