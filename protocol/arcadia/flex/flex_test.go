package flex_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/flex"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// on runs f on a host of the simulator. f must not end the test: it reports errors.
func on(f func(h host.Host)) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	w, err := sim.New(sim.Config{Profile: profile, MaxSteps: 1 << 24, Nodes: []sim.Node{{Name: "app", Main: func(h host.Host, _ int) { f(h) }}}})
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Run(first{})
	return err
}

// put makes image the persistent region called name.
func put(h host.Host, name string, image []byte) error {
	r, err := h.OpenPMEM(name, len(image))
	if err != nil {
		return err
	}
	r.Store(0, image)
	r.Flush(0, len(image))
	r.Fence()
	return r.Free()
}

// all are the records of a log.
func all(l *flex.Log) (out []string, err error) {
	err = l.Each(func(data []byte) error {
		out = append(out, string(data))
		return nil
	})
	return out, err
}

const size = 96

// operation is what is done to a file or a log.
type operation struct {
	Kind string
	Data []byte
	N    int
}

func operations(kinds ...string) *rapid.Generator[[]operation] {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) operation {
		return operation{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
			Data: rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "data"),
			N:    rapid.IntRange(-1, size).Draw(t, "n"),
		}
	}))
}

// A file agrees with a slice of bytes, whatever is done to it and however often it is opened.
func TestFileAgainstBytes(t *testing.T) {
	all := operations("append", "append", "truncate", "read", "open")
	rapid.Check(t, func(t *rapid.T) {
		todo := all.Draw(t, "operations")
		var failed error
		err := on(func(h host.Host) {
			f, err := flex.OpenFile(h, "file", size)
			var want []byte
			for i := 0; i < len(todo) && err == nil; i++ {
				f, want, err = step(h, f, want, &todo[i])
			}
			failed = err
		})
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	})
}

// step does one operation on a file and on a slice. An error says what differs.
func step(h host.Host, f *flex.File, want []byte, o *operation) (*flex.File, []byte, error) {
	switch o.Kind {
	case "append":
		fits := len(want)+len(o.Data) <= f.Cap()
		if err := f.Append(o.Data); fits != (err == nil) || err != nil && !errors.Is(err, flex.ErrFull) {
			return f, want, fmt.Errorf("%d bytes after %d of %d: %v", len(o.Data), len(want), f.Cap(), err)
		}
		if fits {
			want = append(want, o.Data...)
		}
	case "truncate":
		can := o.N >= 0 && o.N <= len(want)
		if err := f.Truncate(o.N); can != (err == nil) || err != nil && !errors.Is(err, flex.ErrArgument) {
			return f, want, fmt.Errorf("%d of %d bytes: %v", o.N, len(want), err)
		}
		if can {
			want = want[:o.N]
		}
	case "read":
		p := make([]byte, len(o.Data))
		can := o.N >= 0 && o.N+len(p) <= len(want)
		if err := f.ReadAt(p, o.N); can != (err == nil) || err != nil && !errors.Is(err, flex.ErrArgument) {
			return f, want, fmt.Errorf("%d at %d of %d bytes: %v", len(p), o.N, len(want), err)
		}
		if can && !bytes.Equal(p, want[o.N:o.N+len(p)]) {
			return f, want, fmt.Errorf("at %d of %q: %q", o.N, want, p)
		}
	case "open":
		err := f.Close()
		if err == nil {
			f, err = flex.OpenFile(h, "file", size)
		}
		if err != nil {
			return f, want, err
		}
	}
	if f.Len() != len(want) {
		return f, want, fmt.Errorf("%d bytes, want %d", f.Len(), len(want))
	}
	return f, want, nil
}

// A log agrees with a list of records, and a record has 8 bytes beside its own.
func TestLogAgainstList(t *testing.T) {
	some := operations("append", "append", "open")
	rapid.Check(t, func(t *rapid.T) {
		todo := some.Draw(t, "operations")
		var failed error
		err := on(func(h host.Host) {
			l, err := flex.Open(h, "log", size)
			var want []string
			used := 8
			for i := 0; i < len(todo) && err == nil; i++ {
				switch o := &todo[i]; o.Kind {
				case "open":
					if err = l.Close(); err == nil {
						l, err = flex.Open(h, "log", size)
					}
				default:
					fits := used+8+len(o.Data) <= size
					if err = l.Append(o.Data); fits {
						want, used = append(want, string(o.Data)), used+8+len(o.Data)
					} else if errors.Is(err, flex.ErrFull) {
						err = nil
					} else {
						err = fmt.Errorf("%d bytes after %d: %v", len(o.Data), used, err)
					}
				}
				if err != nil {
					break
				}
				var got []string
				if got, err = all(l); err == nil && !slices.Equal(got, want) {
					err = fmt.Errorf("%q, want %q", got, want)
				}
			}
			failed = err
		})
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	})
}

var records = []string{"one", "", "three three", "4444444"}

// file is the memory of a log with these records, as the package comment describes it.
func file(records ...string) []byte {
	b := make([]byte, 8, size)
	for _, r := range records {
		h := make([]byte, 8)
		binary.LittleEndian.PutUint32(h, uint32(len(r)))
		table := crc32.MakeTable(crc32.Castagnoli)
		binary.LittleEndian.PutUint32(h[4:], crc32.Checksum(append(slices.Clone(h[:4]), r...), table))
		b = append(append(b, h...), r...)
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	return b[:size]
}

// TestLayout: that is what appends leave in memory.
func TestLayout(t *testing.T) {
	err := on(func(h host.Host) {
		l, err := flex.Open(h, "log", size)
		for _, r := range records {
			if err == nil {
				err = l.Append([]byte(r))
			}
		}
		r, e := h.OpenPMEM("log", size)
		got := make([]byte, size)
		r.Load(0, got)
		if err != nil || e != nil || !bytes.Equal(got, file(records...)) {
			t.Errorf("%q %v %v", got, err, e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// look opens whatever is in memory as a log, and uses it. An error is a mistake: an image is refused with
// ErrCorrupt, or it is a log to which another record can be added, if there is room.
func look(h host.Host, image []byte) (found []string, refused bool, err error) {
	if err := put(h, "log", image); err != nil {
		return nil, false, err
	}
	l, err := flex.Open(h, "log", len(image))
	if errors.Is(err, flex.ErrCorrupt) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	if found, err = all(l); err != nil {
		return nil, false, err
	}
	err = l.Append([]byte("x"))
	full := errors.Is(err, flex.ErrFull)
	if err != nil && !full {
		return nil, false, err
	}
	if l, err = flex.Open(h, "log", len(image)); err != nil {
		return nil, false, err
	}
	again, err := all(l)
	if err != nil || len(again) < len(found) || !slices.Equal(again[:len(found)], found) || full == (len(again) == len(found)+1) {
		return nil, false, fmt.Errorf("%q, and with one more %q: %v", found, again, err)
	}
	return found, false, l.Close()
}

// Whatever bit of a log flips and wherever it is cut off, it is refused or holds a prefix of the records.
func TestEveryFlippedBitAndCut(t *testing.T) {
	whole := file(records...)
	end := 8 + int(binary.LittleEndian.Uint64(whole))
	prefix := func(got []string) bool { return len(got) <= len(records) && slices.Equal(got, records[:len(got)]) }
	err := on(func(h host.Host) {
		if got, _, err := look(h, whole); err != nil || len(got) != len(records) || !prefix(got) {
			t.Errorf("%q %v", got, err)
		}
		for bit := range 8 * size {
			c := bytes.Clone(whole)
			c[bit/8] ^= 1 << (bit % 8)
			got, refused, err := look(h, c)
			found := refused || len(got) < len(records) // in the length, a flip may only add what is no record
			if err != nil || !prefix(got) || bit >= 64 && found != (bit < 8*end) {
				t.Errorf("bit %d: %q, refused %v, %v", bit, got, refused, err)
			}
		}
		for at := range size {
			for _, rest := range []byte{0, 0xff, 0x55} {
				got, _, err := look(h, append(bytes.Clone(whole[:at]), bytes.Repeat([]byte{rest}, size-at)...))
				if err != nil || !prefix(got) {
					t.Errorf("cut at %d, and then %#x: %q %v", at, rest, got, err)
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A header without its payload, which a failure between two appends leaves, ends the log, and the next record
// takes its place.
func TestHeaderWithoutPayload(t *testing.T) {
	torn := file("one", "two")
	binary.LittleEndian.PutUint64(torn, 8+3+8)
	err := on(func(h host.Host) {
		if got, refused, err := look(h, torn); err != nil || refused || !slices.Equal(got, []string{"one"}) {
			t.Errorf("%q %v %v", got, refused, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Arguments that cannot be are refused.
func TestArguments(t *testing.T) {
	err := on(func(h host.Host) {
		for _, x := range []struct {
			name string
			size int
		}{{"", size}, {"log", 0}, {"log", -8}, {"log", flex.MinSize - 8}, {"log", size + 1}, {"log", flex.MaxSize + 8}} {
			if _, err := flex.Open(h, x.name, x.size); !errors.Is(err, flex.ErrArgument) {
				t.Errorf("%q of %d bytes: %v", x.name, x.size, err)
			}
		}
		if _, err := flex.Open(h, "log", size); err != nil {
			t.Error(err)
		}
		if _, err := flex.Open(h, "log", size+8); !errors.Is(err, host.ErrBounds) {
			t.Error("another size:", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Memory that cannot be read is an error that names it, and so is a record that was damaged since it was
// written.
func TestDamage(t *testing.T) {
	err := on(func(h host.Host) {
		for _, x := range []struct {
			at         int
			unreadable bool
			opened     error
			each       error
		}{
			{16, false, nil, flex.ErrCorrupt}, // the payload of the first record
			{16, true, host.ErrMedia, host.ErrMedia},
			{8, true, host.ErrMedia, host.ErrMedia},
			{0, true, host.ErrMedia, nil},
		} {
			if err := put(h, "log", file("12345678", "abcdefgh")); err != nil {
				t.Error(err)
			}
			l, err := flex.Open(h, "log", size)
			r, e := h.OpenPMEM("log", size)
			if err != nil || e != nil {
				t.Error(err, e)
				return
			}
			h.(*sim.Host).Damage(r, x.at, 8, x.unreadable)
			if got, err := all(l); !errors.Is(err, x.each) {
				t.Errorf("at %d: %q %v, want %v", x.at, got, err, x.each)
			}
			if _, err := flex.Open(h, "log", size); !errors.Is(err, x.opened) {
				t.Errorf("at %d: opened: %v, want %v", x.at, err, x.opened)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Any bytes are a log or refused.
func FuzzOpen(f *testing.F) {
	f.Add(file(records...))
	f.Add(file())
	f.Add(bytes.Repeat([]byte{8, 0, 0, 0, 0, 0, 0, 0}, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:len(b)&^7]
		if len(b) < flex.MinSize {
			return
		}
		var failed error
		if err := on(func(h host.Host) { _, _, failed = look(h, b) }); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	})
}
