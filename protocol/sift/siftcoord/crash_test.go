package siftcoord

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
)

// anyRequest is a request at random, as a client encodes it.
func anyRequest(t *rapid.T) []byte {
	var req []byte
	c := coord.NewClient(recorder{req: &req}, "", "")
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	value := []byte(strings.Repeat(key, rapid.IntRange(0, 200).Draw(t, "length")))
	session := coord.Session(rapid.Uint64Range(0, 3).Draw(t, "session"))
	switch rapid.IntRange(0, 7).Draw(t, "op") {
	case 0:
		_ = c.Create(key, value, session)
	case 1:
		_, _ = c.Set(key, value, coord.AnyVersion)
	case 2:
		_ = c.Delete(key, coord.AnyVersion)
	case 3:
		_, _ = c.NewSession()
	case 4:
		_ = c.CloseSession(session)
	case 5:
		_ = c.CheckSession(session)
	case 6:
		_, _, _ = c.Get(key)
	case 7:
		_, _ = c.List("")
	}
	return req
}

// recorder is a host that only remembers what it is asked to send.
type recorder struct {
	host.Host
	req *[]byte
}

func (r recorder) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	*r.req = slices.Clone(req)
	return nil, host.ErrUnreachable
}

// oracle is the service in the memory of one process that never dies.
type oracle struct {
	coord.Keeper
	tb *rapid.T
}

// became makes the oracle what the service has become: as it was, or as it is after one of the changes.
func (o *oracle) became(hash fingerprint.Print, changes ...func()) {
	for i := 0; o.Hash() != hash; i++ {
		if i == len(changes) {
			o.tb.Fatalf("a new coordinator has a state that the requests do not lead to")
		}
		changes[i]()
	}
	b := o.AppendSnapshot(nil)
	o.Keeper = coord.Keeper{Ticks: o.Ticks} // sessions have their full time again
	if err := o.Restore(b); err != nil {
		o.tb.Fatal(err)
	}
}

// Coordinators die anywhere: in a record, in a snapshot, while they clean up. What was acknowledged lasts, what was refused
// never happens, also for lack of room, and what is unknown happened or did not, as a whole. Nothing is left of what was
// replaced.
func TestCoordinatorsMayDieAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"cpu1", "cpu2"}
		g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
		m.room = rapid.SampledFrom([]int{m.room, 12, 20}).Draw(t, "room")
		o := &oracle{Keeper: coord.Keeper{Ticks: 2}, tb: t}
		at := 0
		elect := func(mortal bool) *Service {
			if old, ok := g.stores[names[at]].(*fake); ok {
				old.dead = true
			}
			at = rapid.IntRange(0, 1).Draw(t, "next")
			f := m.open()
			if mortal {
				f.left = rapid.IntRange(-1, 25).Draw(t, "lives")
				f.lasts = rapid.Bool().Draw(t, "lasts")
			}
			g.stores[names[at]] = f
			return g.nodes[names[at]]
		}
		// recovered elects until a coordinator has the state.
		recovered := func(changes ...func()) {
			for tries := 0; ; tries++ {
				if s := elect(tries < 10); s.answer("x", listAll)[0] != notLeading {
					o.became(s.keeper.Hash(), changes...)
					return
				}
				if tries == 10 {
					t.Fatal("a coordinator that lives does not find the state")
				}
			}
		}
		recovered()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := g.nodes[names[at]]
			if old, ok := g.stores[names[1-at]].(*fake); ok && old.dead {
				if resp := g.nodes[names[1-at]].answer("app", listAll); resp[0] != notLeading {
					t.Fatalf("a replaced coordinator answered %v", resp)
				}
			}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				s.Tick()
				var changes []func()
				for _, x := range o.Due() {
					changes = append(changes, func() { o.ExpireSession(x.ID) })
				}
				if g.stores[names[at]].(*fake).dead {
					recovered(changes...)
					continue
				}
				for _, expire := range changes {
					if full := len(m.pairs) == m.room; full && s.keeper.Hash() == o.Hash() {
						break // there is no room for the record of an expiry; the next tick tries again
					}
					expire()
				}
				if s.keeper.Hash() != o.Hash() {
					t.Fatal("a tick expires other sessions")
				}
			case 1:
				recovered()
			default:
				req, from := anyRequest(t), rapid.SampledFrom([]string{"app", "tool"}).Draw(t, "from")
				resp := s.answer(from, req)
				switch resp[0] {
				case notLeading:
					recovered()
				case full: // and nothing has changed, which the next coordinator confirms
				case unknown:
					recovered(func() { o.Apply(from, req) })
				default:
					if want := o.Apply(from, req); !bytes.Equal(resp, want) {
						t.Fatalf("%s, not %s", coord.Describe(req, resp), coord.Describe(req, want))
					}
				}
			}
		}
		s := elect(false)
		if s.answer("x", listAll)[0] == notLeading {
			t.Fatal("a coordinator that lives does not find the state")
		}
		o.became(s.keeper.Hash())
		noGarbage(t, m, s.log)
	})
}

// noGarbage fails if the store holds something that is no part of the journal. Pieces of an unfinished record are: they
// are deleted with the next record of its number.
func noGarbage(t *rapid.T, m *memory, j *journal) {
	for k := range m.pairs {
		b := []byte(k)
		if len(b) == 1 {
			continue // the head
		}
		kind, n, piece := b[0], binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint32(b[9:])
		if kind == recordKey && n >= j.head.first && n <= j.next {
			continue
		}
		if first := m.pairs[string(key(kind, n, 0))]; kind == recordKey || n != uint64(j.head.half) || piece >= binary.BigEndian.Uint32([]byte(first)) {
			t.Fatalf("piece %d of %c%d is left; the journal has snapshot %d and records %d to %d", piece, kind, n, j.head.half, j.head.first, j.next)
		}
	}
}

// listAll changes nothing.
var listAll = func() (req []byte) {
	_, _ = coord.NewClient(recorder{req: &req}, "", "").List("")
	return req
}()
