package siftcoord

import (
	"bytes"
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/coord"
)

// wireRequests are the requests of a well-behaved client.
func wireRequests() (reqs [][]byte) {
	var req []byte
	c := coord.NewClient(recorder{req: &req}, "", "")
	keep := func() { reqs = append(reqs, bytes.Clone(req)) }
	_ = c.Create("k", []byte("v"), coord.NoSession)
	keep()
	_ = c.Create("new", bytes.Repeat([]byte("v"), 200), 1)
	keep()
	_, _ = c.Set("k", nil, coord.AnyVersion)
	keep()
	_ = c.Delete("k", 1)
	keep()
	_, _ = c.NewSession()
	keep()
	_ = c.CloseSession(1)
	keep()
	_ = c.CheckSession(1)
	keep()
	_, _, _ = c.Get("k")
	keep()
	return append(reqs, listAll)
}

// malformedCode is how package coord answers what is no request.
const malformedCode = 5

// Whatever a host sends gets an answer. What is refused changes nothing, what is malformed or only reads does not write, and
// the next coordinator has the same state.
func FuzzRequests(f *testing.F) {
	for _, req := range wireRequests() {
		f.Add("app", req)
		f.Add("another", req[:len(req)-1])
		f.Add(string(make([]byte, wire.MaxString+1)), append(req, 0))
	}
	f.Fuzz(func(t *testing.T, from string, req []byte) {
		g, m := newGroup(t, Config{Ticks: 2, Every: 2}), newMemory()
		m.room = 4 << 10 // a value of coord.MaxValue, and a snapshot of it
		store := m.open()
		g.leads("cpu1", store)
		_, c := g.client(t, "app")
		session, err := c.NewSession()
		if err := errors.Join(err, c.Create("k", []byte("value"), session)); err != nil {
			t.Fatal(err)
		}
		s := g.nodes["cpu1"]
		before, writes, kept := s.keeper.Hash(), store.writes, bytes.Clone(req)
		for range 3 { // across a snapshot
			resp := s.answer(from, req)
			switch {
			case !bytes.Equal(req, kept):
				t.Fatal("the request was changed")
			case len(resp) == 0:
				t.Fatal("no answer")
			case resp[0] != 0 && s.keeper.Hash() != before:
				t.Fatalf("%s changes the state", coord.Describe(req, resp))
			case (resp[0] == malformedCode || coord.ReadOnly(req) || len(from) > wire.MaxString) && store.writes != writes:
				t.Fatalf("%s writes to the store", coord.Describe(req, resp))
			}
			before, writes = s.keeper.Hash(), store.writes
		}
		g.leads("cpu2", m.open())
		if resp := g.nodes["cpu2"].answer("app", listAll); resp[0] != 0 {
			t.Fatalf("the next coordinator answers %x", resp)
		}
		if g.nodes["cpu2"].keeper.Hash() != before {
			t.Fatalf("%s: the next coordinator has another state", coord.Describe(req, nil))
		}
	})
}

// calls counts the calls of a store.
type calls struct {
	*fake
	n int
}

func (c *calls) Get(key, buf []byte) ([]byte, bool, error) { c.n++; return c.fake.Get(key, buf) }
func (c *calls) Delete(key []byte) error                   { c.n++; return c.fake.Delete(key) }

// A store with any content is a journal or is refused, after about as many calls as it has pairs.
func FuzzForeignStore(f *testing.F) {
	h := head{half: 1, first: 2, stale: 1}
	f.Add(h.encode(), []byte("\x00\x00\x00\x01"), []byte("\x00\x00\x00\x02\x01\x01x"), []byte("\x05"))
	f.Add((&head{first: 1 << 62}).encode(), []byte("\x00\x00\x00\x01"), []byte{}, []byte{}) // 2^62 records to delete
	f.Add((&head{}).encode(), []byte("\xff\xff\xff\xff"), []byte("\x00\x00\x00\x00"), []byte{2})
	f.Fuzz(func(t *testing.T, rawHead, snapshot, record, piece []byte) {
		m := newMemory()
		var x head
		_ = x.decode(rawHead, shape.Blocks) // the snapshot and the record that it names, if it names any
		for k, v := range map[string][]byte{
			string([]byte{headKey}): rawHead, string(key(snapshotKey, uint64(x.half), 0)): snapshot,
			string(key(recordKey, x.first, 0)): record, string(key(recordKey, x.first, 1)): piece,
		} {
			if len(v) > 0 {
				m.pairs[k] = string(v)
			}
		}
		g := newGroup(t, Config{Ticks: 1, Every: 1})
		c := &calls{fake: m.open()}
		g.stores["cpu1"] = c
		if resp := g.nodes["cpu1"].answer("app", listAll); len(resp) == 0 {
			t.Fatal("no answer")
		}
		if most := 16 * shape.Blocks; c.n > most {
			t.Fatalf("%d calls of a store with %d pairs", c.n, len(m.pairs))
		}
	})
}
