package ncl

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// aimed is a card that notes where requests go.
type aimed struct {
	*card
	to []lend.Window
}

func (a *aimed) PostSend(wrs []verbs.SendWR) error {
	for i := range wrs {
		a.to = append(a.to, lend.Window{RKey: wrs[i].RKey, Addr: wrs[i].RemoteAddr})
	}
	return a.card.PostSend(wrs)
}

// The stamp that is written once more goes to each peer's own region.
func TestProbesGoToEachPeer(t *testing.T) {
	f, _ := newTestFile()
	cards := make([]aimed, len(f.links))
	for i, l := range f.links {
		l.Windows[0].RKey, l.Windows[0].Addr = uint32(i+1), uint64(i+1)<<32
		cards[i].card = l.QP.(*card)
		l.QP = &cards[i]
	}
	for _, l := range f.working() {
		f.postStamp(l)
	}
	for i, l := range f.links {
		if got := cards[i].to; len(got) != 1 || got[0].RKey != l.Windows[0].RKey || got[0].Addr != l.Windows[0].Addr {
			t.Errorf("peer %d: %+v, want %+v", i, got, l.Windows[0])
		}
	}
}
