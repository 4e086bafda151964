package pmemlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/pmemlog"
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

// all are the bytes of a pool, read in chunks.
func all(p *pmemlog.Pool, chunk int) (out []byte, err error) {
	err = p.Walk(chunk, func(data []byte) bool {
		out = append(out, data...)
		return true
	})
	return out, err
}

const size = 64 + 40

// operation is what is done to a pool.
type operation struct {
	Kind  string
	Data  []byte
	Chunk int
}

// A pool agrees with a slice of bytes, whatever is done to it and however often it is opened.
func TestAgainstBytes(t *testing.T) {
	operations := rapid.SliceOf(rapid.Custom(func(t *rapid.T) operation {
		return operation{
			Kind:  rapid.SampledFrom([]string{"append", "append", "rewind", "walk", "open", "create"}).Draw(t, "kind"),
			Data:  rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "data"),
			Chunk: rapid.IntRange(0, size).Draw(t, "chunk"),
		}
	}))
	rapid.Check(t, func(t *rapid.T) {
		todo := operations.Draw(t, "operations")
		var failed error
		err := on(func(h host.Host) {
			p, err := pmemlog.Create(h, "log", size)
			var want []byte
			for i := 0; i < len(todo) && err == nil; i++ {
				p, want, err = step(h, p, want, &todo[i])
			}
			failed = err
		})
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	})
}

// step does one operation on a pool and on a slice. An error says what differs.
func step(h host.Host, p *pmemlog.Pool, want []byte, o *operation) (*pmemlog.Pool, []byte, error) {
	switch o.Kind {
	case "append":
		fits := len(want)+len(o.Data) <= p.Cap()
		if err := p.Append(o.Data); fits != (err == nil) || err != nil && !errors.Is(err, pmemlog.ErrFull) {
			return p, want, fmt.Errorf("%d bytes after %d of %d: %v", len(o.Data), len(want), p.Cap(), err)
		}
		if fits {
			want = append(want, o.Data...)
		}
	case "rewind":
		if err := p.Rewind(); err != nil {
			return p, want, err
		}
		want = nil
	case "walk":
		if got, err := all(p, o.Chunk); err != nil || !bytes.Equal(got, want) {
			return p, want, fmt.Errorf("chunks of %d: %q, want %q, %v", o.Chunk, got, want, err)
		}
	case "open":
		err := p.Close()
		if err == nil {
			p, err = pmemlog.Open(h, "log", size)
		}
		if err != nil {
			return p, want, err
		}
	case "create":
		if _, err := pmemlog.Create(h, "log", size); !errors.Is(err, pmemlog.ErrExists) {
			return p, want, fmt.Errorf("a second creation: %v", err)
		}
	}
	if n, err := p.Tell(); err != nil || n != len(want) {
		return p, want, fmt.Errorf("it tells %d, want %d, %v", n, len(want), err)
	}
	return p, want, nil
}

// Chunks have the length that was asked for, but for the last, and a walk stops where it is told to.
func TestChunks(t *testing.T) {
	err := on(func(h host.Host) {
		p, err := pmemlog.Create(h, "log", size)
		if err == nil {
			err = p.Append([]byte("abcdefg"))
		}
		for chunk, want := range map[int]string{0: "[abcdefg]", 3: "[abc def g]", 7: "[abcdefg]", 100: "[abcdefg]"} {
			var got []string
			if e := p.Walk(chunk, func(data []byte) bool { got = append(got, string(data)); return true }); e != nil || fmt.Sprint(got) != want {
				t.Errorf("chunks of %d: %q, %v", chunk, got, e)
			}
		}
		calls := 0
		e := p.Walk(3, func([]byte) bool { calls++; return calls < 2 })
		if err != nil || e != nil || calls != 2 {
			t.Error(calls, err, e)
		}
		if err := p.Walk(-1, nil); !errors.Is(err, pmemlog.ErrArgument) {
			t.Error(err)
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
		}{{"", size}, {"log", 0}, {"log", -8}, {"log", pmemlog.MinSize - 8}, {"log", size + 1}, {"log", pmemlog.MaxSize + 8}} {
			for _, open := range []func(host.Host, string, int) (*pmemlog.Pool, error){pmemlog.Create, pmemlog.Open} {
				if _, err := open(h, x.name, x.size); !errors.Is(err, pmemlog.ErrArgument) {
					t.Errorf("%q of %d bytes: %v", x.name, x.size, err)
				}
			}
		}
		if _, err := pmemlog.Open(h, "none", size); !errors.Is(err, pmemlog.ErrCorrupt) {
			t.Error("no pool:", err)
		}
		if _, err := pmemlog.Create(h, "none", size+8); !errors.Is(err, host.ErrBounds) {
			t.Error("another size:", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pool is the memory of a pool with this content, as the package comment describes it.
func pool(content string) []byte {
	b := make([]byte, size)
	for i, w := range []uint64{64, size, 64 + uint64(len(content))} {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	copy(b[64:], content)
	return b
}

// TestLayout: that is what an append leaves in memory.
func TestLayout(t *testing.T) {
	err := on(func(h host.Host) {
		p, err := pmemlog.Create(h, "log", size)
		if err == nil {
			err = errors.Join(p.Append([]byte("one")), p.Append([]byte("two")))
		}
		r, e := h.OpenPMEM("log", size)
		got := make([]byte, size)
		r.Load(0, got)
		if err != nil || e != nil || !bytes.Equal(got, pool("onetwo")) {
			t.Errorf("%q %v %v", got, err, e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// look opens whatever is in memory, and uses it. An error is a mistake: an image is refused with ErrCorrupt,
// and can then be made a pool, or it is a pool whose bytes are those of the image.
func look(h host.Host, image []byte) (refused bool, err error) {
	if err := put(h, "log", image); err != nil {
		return false, err
	}
	p, err := pmemlog.Open(h, "log", len(image))
	if refused = errors.Is(err, pmemlog.ErrCorrupt); refused {
		p, err = pmemlog.Create(h, "log", len(image))
	}
	if err != nil {
		return refused, err
	}
	n, err := p.Tell()
	if err != nil || n < 0 || n > p.Cap() || refused && n > 0 {
		return refused, fmt.Errorf("it tells %d of %d: %v", n, p.Cap(), err)
	}
	if got, err := all(p, 7); err != nil || !bytes.Equal(got, image[64:64+n]) {
		return refused, fmt.Errorf("%q of %d bytes: %v", got, n, err)
	}
	if err := p.Append([]byte("x")); (err == nil) != (n < p.Cap()) || err != nil && !errors.Is(err, pmemlog.ErrFull) {
		return refused, fmt.Errorf("append after %d of %d: %v", n, p.Cap(), err)
	}
	return refused, p.Close()
}

// Whatever bit of a pool flips and wherever it is cut off, it is opened or refused. Flipped bits of the data
// and some of the write offset are found by nobody.
func TestEveryFlippedBitAndCut(t *testing.T) {
	whole := pool("some records")
	err := on(func(h host.Host) {
		for bit := range 8 * size {
			c := bytes.Clone(whole)
			c[bit/8] ^= 1 << (bit % 8)
			if refused, err := look(h, c); err != nil || refused != (bit < 128) && (bit < 128 || bit >= 192) {
				t.Errorf("bit %d: refused %v, %v", bit, refused, err)
			}
		}
		for at := range size {
			for _, rest := range []byte{0, 0xff, 0x55} {
				if _, err := look(h, append(bytes.Clone(whole[:at]), bytes.Repeat([]byte{rest}, size-at)...)); err != nil {
					t.Errorf("cut at %d, and then %#x: %v", at, rest, err)
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Memory that cannot be read is an error that names it, and rewriting repairs it.
func TestUnreadable(t *testing.T) {
	err := on(func(h host.Host) {
		p, err := pmemlog.Create(h, "log", size)
		if err == nil {
			err = p.Append([]byte("12345678abcdefgh"))
		}
		r, e := h.OpenPMEM("log", size)
		if err != nil || e != nil {
			t.Error(err, e)
			return
		}
		h.(*sim.Host).Damage(r, 72, 8, true)
		if got, err := all(p, 8); !errors.Is(err, host.ErrMedia) || string(got) != "12345678" {
			t.Errorf("%q %v", got, err)
		}
		if _, err := all(p, 0); !errors.Is(err, host.ErrMedia) {
			t.Error(err)
		}
		h.(*sim.Host).Damage(r, 16, 8, true)
		_, told := p.Tell()
		_, opened := pmemlog.Open(h, "log", size)
		_, whole := all(p, 0)
		_, chunks := all(p, 8)
		for _, err := range []error{told, opened, whole, chunks, p.Append([]byte("x")), p.Rewind()} {
			if !errors.Is(err, host.ErrMedia) {
				t.Error(err)
			}
		}
		p, err = pmemlog.Create(h, "log", size)
		if err == nil {
			err = p.Append([]byte("12345678abcdefgh"))
		}
		if got, e := all(p, 0); err != nil || e != nil || string(got) != "12345678abcdefgh" {
			t.Errorf("%q %v %v", got, err, e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Any bytes are opened or refused.
func FuzzOpen(f *testing.F) {
	f.Add(pool("some records"))
	f.Add(pool(""))
	f.Add(make([]byte, size))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:len(b)&^7]
		if len(b) < pmemlog.MinSize {
			return
		}
		var failed error
		if err := on(func(h host.Host) { _, failed = look(h, b) }); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	})
}
