package ncl

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

var (
	someEnd  = verbs.Endpoint{GID: [16]byte{1, 2, 3}, QPN: 7, PSN: 9, MTU: 4096}
	requests = []request{
		{op: opAlloc, generation: generation{1 << 40, 1}, app: "db", file: "wal", size: 64, endpoint: someEnd},
		{op: opRecover, generation: generation{1, MaxEpoch}, app: "db", file: strings.Repeat("f", MaxName), endpoint: someEnd},
		{op: opSwitch, generation: generation{1, 2}, app: "a", file: "b"},
		{op: opJoin, generation: generation{1, 2}, app: "a", file: "b", size: 8, endpoint: someEnd},
		{op: opCollect}, {op: opRevoke},
		{op: opRelease, generation: generation{1, 2}, app: "a", file: "b"},
	}
)

func TestRequests(t *testing.T) {
	for _, r := range requests {
		b := r.encode()
		if got, err := decodeRequest(b); err != nil || got != r {
			t.Errorf("%v: %+v, %v", r.op, got, err)
		}
		for n := range b {
			if _, err := decodeRequest(b[:n]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%v, the first %d bytes: %v", r.op, n, err)
			}
		}
		if _, err := decodeRequest(append(b, 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%v and a byte: %v", r.op, err)
		}
	}
	for name, r := range map[string]request{
		"no op": {}, "unknown op": {op: opRevoke + 1, generation: generation{1, 1}, app: "a", file: "b"},
		"epoch 0": {op: opSwitch, app: "a", file: "b"}, "long epoch": {op: opSwitch, generation: generation{1, MaxEpoch + 1}, app: "a", file: "b"},
		"no app": {op: opSwitch, generation: generation{1, 1}, file: "b"}, "no size": {op: opAlloc, generation: generation{1 << 40, 1}, app: "a", file: "b"},
		"long name":            {op: opSwitch, generation: generation{1, 1}, app: "a", file: strings.Repeat("f", MaxName+1)},
		"long sequence number": {op: opRecover, generation: generation{1, 1}, app: "a", file: "b", endpoint: verbs.Endpoint{QPN: 7, PSN: 1 << 24, MTU: 4096}},
		"too large":            {op: opAlloc, generation: generation{1 << 40, 1}, app: "a", file: "b", size: MaxSize + 1},
	} {
		if _, err := decodeRequest(r.encode()); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEntries(t *testing.T) {
	e := entry{generation: generation{7, 3}, size: 9, f: 1, copying: true, peers: []string{"p1", "p2", "p3"}, joining: []string{"p4"}}
	if got, err := decodeEntry(e.encode()); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("%+v, %v", got, err)
	}
	most := entry{generation: generation{1, 1}, size: MaxSize, f: MaxF, peers: peersFor(MaxF)}
	if got, err := decodeEntry(most.encode()); err != nil || !reflect.DeepEqual(got, most) {
		t.Errorf("as many peers as there may be: %+v, %v", got, err)
	}
	most.f, most.peers = MaxF+1, peersFor(MaxF+1)
	if _, err := decodeEntry(most.encode()); !errors.Is(err, ErrMalformed) {
		t.Errorf("more peers than there may be: %v", err)
	}
	e.peers[2] = "p1"
	if _, err := decodeEntry(e.encode()); !errors.Is(err, ErrMalformed) {
		t.Errorf("an entry with a peer twice: %v", err)
	}
}

// An entry has 2f+1 peers or none, and its peers' names are valid and distinct.
func TestEntriesThatCannotBe(t *testing.T) {
	three := peersFor(1)
	copied := (&entry{generation: generation{1, 1}, size: 8, f: 1, peers: three}).encode()
	copied[8+4+8+1] = 2 // neither false nor true
	if _, err := decodeEntry(copied); !errors.Is(err, ErrMalformed) {
		t.Errorf("whether it is being copied is 2: %v", err)
	}
	for name, x := range map[string]struct {
		f              int
		peers, joining []string
		ok             bool
	}{
		"being created":                      {1, nil, three, true},
		"being created, for too many":        {MaxF + 1, nil, nil, false},
		"a peer too few":                     {1, three[:2], nil, false},
		"a peer too many":                    {1, peersFor(2)[:4], nil, false},
		"a peer that joins twice":            {1, three, []string{"p7", "p7"}, false},
		"one that joins while it is created": {1, nil, []string{"p/7"}, false},
		"as many that join as may":           {MaxF, nil, peersFor(MaxF), true},
		"more that join than may":            {MaxF, nil, peersFor(MaxF + 1)[:2*MaxF+2], false},
	} {
		e := entry{generation: generation{1, 1}, size: 8, f: x.f, peers: x.peers, joining: x.joining}
		if _, err := decodeEntry(e.encode()); (err == nil) != x.ok || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func peersFor(f int) []string {
	var out []string
	for i := range 2*f + 1 {
		out = append(out, fmt.Sprint("p", i))
	}
	return out
}

func FuzzDecode(f *testing.F) {
	for _, r := range requests {
		f.Add(r.encode())
	}
	f.Add((&entry{generation: generation{7, 3}, size: 9, f: 1, copying: true, peers: []string{"p1", "p2", "p3"}, joining: []string{"p4"}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRequest(b); err == nil && !bytes.Equal(r.encode(), b) {
			t.Errorf("request %x is also %x", b, r.encode())
		}
		if e, err := decodeEntry(b); err == nil && !bytes.Equal(e.encode(), b) {
			t.Errorf("entry %x is also %x", b, e.encode())
		}
	})
}
