package programs

import (
	"strings"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// joined is a request that is posted in one list with the next one.
type joined struct {
	act *Act
	wr  verbs.SendWR
}

// has reports whether the act has a flag.
func (a *Act) has(f rune) bool { return strings.ContainsRune(a.Flags, f) }

// post posts a request to each peer, in one step, together with those joined to it.
func (t *task) post(a *Act, wr verbs.SendWR) {
	t.list = append(t.list, joined{a, wr})
	if !a.has(flagJoin) {
		t.postList()
	}
}

// postList posts the requests that were joined, as one list for each peer.
func (t *task) postList() {
	list := t.list
	t.list = nil
	if len(list) == 0 {
		return
	}
	for i, l := range t.to(list[0].act) {
		var wrs []verbs.SendWR
		for _, x := range list {
			wrs = append(wrs, t.request(x.act, x.wr, l, i))
		}
		t.err(l.qp.PostSend(wrs))
	}
	for _, x := range list {
		if x.wr.Op == verbs.OpRead || x.wr.Op.IsAtomic() {
			t.read = x.act
		} else {
			t.sent = x.act
		}
	}
}

func (t *task) request(a *Act, wr verbs.SendWR, l *link, peer int) verbs.SendWR {
	m := t.m
	wr.ID = uint64(a.id*maxPeers + peer)
	for _, f := range a.Flags {
		switch f {
		case flagSignaled:
			wr.Flags |= verbs.Signaled
		case flagInline:
			wr.Flags |= verbs.Inline
		case flagFence:
			wr.Flags |= verbs.Fence
		case flagSolicited:
			wr.Flags |= verbs.Solicited
		}
	}
	base, key, at := l.base, l.key, 8*a.At
	if a.has(flagPMEM) {
		base, key, at = l.pbase, l.pkey, pmemAt(a.At)
	}
	switch {
	case a.has(flagBadKey):
		key = 99
	case a.has(flagNextKey):
		key += uint32(m.x.needs.registrations)
	}
	if a.has(flagBeyond) {
		at = 4096
	}
	off, n := a.bytes()
	at += off
	wr.RemoteAddr, wr.RKey = base+uint64(at), key
	if wr.Op == verbs.OpFlush {
		return wr
	}
	from := slot(a, peer)
	switch {
	case wr.Op == verbs.OpRead || wr.Op.IsAtomic():
	case a.has(flagEcho) && t.read != nil:
		from = slot(t.read, 0)
	default:
		from += sources
	}
	wr.SGL = m.local(a, m.buf, m.bmr, from, n)
	return wr
}

// bytes returns the bytes, from the beginning of a word, that a request brings or takes, or that a CPU loads or stores.
func (a *Act) bytes() (off, n int) {
	switch {
	case a.has(flagEmpty):
		if a.has(flagByte) {
			off = 1
		}
		return off, 0
	case a.has(flagByte):
		return 1, 1
	case a.has(flagNext):
		return 2, 1
	case a.has(flagBoth):
		return 1, 2
	case a.Do == "wide" || a.Do == "wideread":
		return 0, 16
	}
	return 0, 8
}

// spread is v, or v in each of two bytes.
func (a *Act) spread(v uint64) uint64 {
	if _, n := a.bytes(); n == 2 {
		return v & 0xff * 0x101
	}
	return v
}

// local returns where a request takes its n bytes from, or brings them to: at from of r, unless flags
// name other memory.
func (m *machine) local(a *Act, r host.Region, mr verbs.MR, from, n int) []verbs.SGE {
	switch {
	case n == 0:
		return nil
	case a.has(flagShared):
		r, mr, from = m.mem, m.mr, 0
	case a.has(flagOwnPMEM):
		r, mr, from = m.pmem, m.pmr, 0
	}
	key := mr.LKey()
	if a.has(flagBadLocal) {
		key = 99
	}
	list := []verbs.SGE{{Addr: r.Addr() + uint64(from), Length: uint32(n), LKey: key}}
	if a.has(flagScatter) && n > 1 {
		list[0].Length = uint32(n / 2)
		list = append(list, verbs.SGE{Addr: m.mem.Addr() + 8, Length: uint32(n - n/2), LKey: m.mr.LKey()})
	}
	return list
}

// received marks the IDs of receives.
const received = 1 << 32

func (t *task) receive(a *Act) {
	for i, l := range t.to(a) {
		at := slot(a, i)
		_, n := a.bytes()
		t.err(l.qp.PostRecv([]verbs.RecvWR{{ID: received | uint64(at), SGL: t.m.local(a, t.m.in, t.m.imr, at, n)}}))
	}
}
