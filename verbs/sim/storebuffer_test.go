package sim

import (
	"bytes"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
)

// oldest makes the run without surprises. With drains, a load finds its own store in memory, after it drained.
type oldest struct{ drains bool }

func (oldest) Pick([]Event) int { return 0 }
func (o oldest) Choose(k ChoiceKind, n int) int {
	return boolInt(k == ChooseLanding && o.drains && n > 1)
}

// buffered runs f in a task with its own buffer, and with two regions that others may reach.
func buffered(t *testing.T, p Policy, f func(b *storeBuffer, x, y *region)) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	main := func(h host.Host, _ int) {
		own := h.(*Host)
		x, errX := own.newRegion("x", 32)
		y, errY := own.newRegion("y", 32)
		if errX != nil || errY != nil {
			t.Error(errX, errY)
			return
		}
		x.lent, y.lent = 1, 1
		f(&own.w.cur.sb, x, y)
	}
	w, err := New(Config{Nodes: []Node{{Name: "a", Main: main}}, Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Run(p); err != nil {
		t.Error(err)
	}
}

// A task that stores nothing makes no buffer.
func TestAStoreBufferIsMadeWhenItIsNeeded(t *testing.T) {
	buffered(t, oldest{}, func(b *storeBuffer, x, _ *region) {
		if _, whole := b.holds(x, 0, make([]byte, 8)); whole || !b.empty() || b.queue != nil {
			t.Error("there is a buffer before the first store")
		}
		b.store(x, 0, []byte{1})
		if b.empty() || len(b.t.w.qps) != 1 || b.t.w.qps[0] != b.queue {
			t.Error("the first store is in no buffer")
		}
	})
}

// Stores are cut at cells, like messages, and are not in memory before they drain.
func TestStoresWaitUntilTheyDrain(t *testing.T) {
	buffered(t, oldest{}, func(b *storeBuffer, x, y *region) {
		data := bytes.Repeat([]byte{7}, 12)
		b.store(x, 4, data) // [4,8) and [8,16)
		b.store(y, 0, data[:8])
		if n := len(b.queue.elems); n != 3 || !b.queue.elems[0].byCPU() {
			t.Errorf("%d pieces wait, want 3 of a CPU", n)
		}
		if x.data[4] != 0 || y.data[0] != 0 {
			t.Error("a store is in memory before it has drained")
		}
		b.drain()
		if !b.empty() || !bytes.Equal(x.data[4:16], data) || !bytes.Equal(y.data[:8], data[:8]) {
			t.Error("a store has drained and is not in memory")
		}
	})
}

// A load finds the task's newest store to each byte. A load of more bytes than were
// stored waits until those stores, and all before them, have drained.
func TestOwnStoresAreForwarded(t *testing.T) {
	buffered(t, oldest{}, func(b *storeBuffer, x, y *region) {
		b.store(y, 0, []byte{9})
		b.store(x, 0, []byte{1, 1, 1, 1})
		b.store(x, 2, []byte{2, 2})
		p := make([]byte, 4)
		if !b.forward(x, 0, p) || !bytes.Equal(p, []byte{1, 1, 2, 2}) || x.data[0] != 0 {
			t.Errorf("forwarded %v, with %v in memory", p, x.data[:4])
		}
		if b.forward(x, 8, p) || len(b.queue.elems) != 3 {
			t.Error("a load of other bytes is forwarded, or drains the stores")
		}
		if b.forward(x, 2, p) || !b.empty() || y.data[0] != 9 {
			t.Error("a load of more than was stored does not wait until it has drained")
		}
	})
}

// Where another task may have written as well, a load finds either the store in the
// buffer, or the content of memory after the store has drained.
func TestAStoreWithRivalsMayHaveDrained(t *testing.T) {
	for _, drains := range []bool{false, true} {
		buffered(t, oldest{drains}, func(b *storeBuffer, x, _ *region) {
			other := &storeBuffer{t: b.t}
			other.store(x, 0, []byte{1})
			b.store(x, 0, []byte{2})
			if !b.rivals(x, 0, 1) || b.rivals(x, 8, 1) {
				t.Error("the other store is rival to the wrong bytes")
			}
			if p := make([]byte, 1); b.forward(x, 0, p) == drains || b.empty() != drains {
				t.Errorf("drains %v: found %v, %d left", drains, p, len(b.queue.elems))
			}
		})
	}
}
