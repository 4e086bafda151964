//go:build rdma

package hw

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// fill has no time to explain an error, and check is called only if fill has refused a
// request: they must agree on the valid requests.
func TestFillTakesWhatCheckPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attr := verbs.DeviceAttr{HasFlush: rapid.Bool().Draw(t, "flush"), HasAtomicWrite: rapid.Bool().Draw(t, "atomic write")}
		q := &qp{d: &device{attr: attr}, cfg: verbs.QPConfig{MaxSGE: rapid.IntRange(1, 3).Draw(t, "SGEs"), MaxInline: rapid.IntRange(0, 2).Draw(t, "inline bytes")}}
		q.send.alloc(rapid.IntRange(1, 4).Draw(t, "chain"), q.cfg.MaxSGE, linkSend)
		defer q.send.free()
		wrs := rapid.SliceOfN(rapid.Custom(anyRequest), 0, 6).Draw(t, "requests")
		n := q.fill(wrs)
		for i := range wrs {
			chained := q.check(&wrs[i]) == nil && operations[wrs[i].Op].part != notLinked
			switch {
			case i < n && !chained:
				t.Fatalf("request %d is in the chain: %v", i, q.check(&wrs[i]))
			case i == n && chained && n < len(q.send.wrs):
				t.Fatalf("request %d is not in the chain", i)
			}
		}
		if n > len(q.send.wrs) {
			t.Fatalf("%d requests in a chain of %d", n, len(q.send.wrs))
		}
	})
}

func anyRequest(t *rapid.T) verbs.SendWR {
	sgl := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) verbs.SGE {
		return verbs.SGE{Addr: rapid.Uint64().Draw(t, "address"), Length: rapid.SampledFrom([]uint32{0, 1, 2}).Draw(t, "length")}
	}), 0, 4).Draw(t, "SGL")
	return verbs.SendWR{
		Op:    verbs.Opcode(rapid.IntRange(0, int(verbs.OpAtomicWrite)+1).Draw(t, "operation")),
		Flags: verbs.SendFlags(rapid.IntRange(0, int(verbs.OpWrite.Flags())+1).Draw(t, "flags")),
		SGL:   sgl,
	}
}
