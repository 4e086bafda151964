package ncl_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// deaf is a host to which some peers do not answer, as if their machines had no power.
type deaf struct {
	host.Host
	to     []string
	waited int   // how many timeouts it took to find out
	asked  []int // the sizes of the batches
}

func (d *deaf) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	g := deafGather{answers: make([]host.Answer, len(calls))}
	var heard []host.Call
	d.asked = append(d.asked, len(calls))
	for i, c := range calls {
		if slices.Contains(d.to, c.To) {
			g.answers[i].Err = host.ErrTimeout
			continue
		}
		heard = append(heard, c)
		g.at = append(g.at, i)
	}
	if len(heard) < len(calls) {
		d.waited++
	}
	g.Gather = d.Host.Gather(heard, timeout)
	return g
}

// deafGather has the answers of the others at their places.
type deafGather struct {
	host.Gather
	at      []int
	answers []host.Answer
}

func (g deafGather) Wait(need int) []host.Answer {
	for i, a := range g.Gather.Wait(need) {
		g.answers[g.at[i]] = a
	}
	return g.answers
}

// If candidates do not answer, and the ap-map has room to ask the rest together, a file
// is created and repaired after at most two timeouts, and has no more peers than it
// needs. The others lend nothing in the end.
func TestSilentCandidates(t *testing.T) {
	const peers, silent = 24, 7
	c := config(t, peers, "strong", "none", func(h host.Host, cfg ncl.Config, life int) {
		if life > 0 {
			return
		}
		d := &deaf{Host: h, to: cfg.Peers[1 : 1+silent]}
		if err := amongSilent(d, cfg); err != nil {
			panic(err)
		}
	})
	for i := range c.Nodes[1:] { // peers that collect
		c.Nodes[1+i].Symmetric = false
		c.Nodes[1+i].Main = func(h host.Host, _ int) {
			panic(ncl.ServePeer(h, ncl.PeerConfig{Memory: 1 << 12, Unlisted: true, Coord: coord.NewClient(h, "coord", "coord")}))
		}
	}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); end != sim.Finished {
		t.Fatal(end, err)
	}
}

func amongSilent(d *deaf, cfg ncl.Config) error {
	cfg.F = 1
	f, err := ncl.Create(d, cfg, "wal", fileSize)
	if err != nil || d.waited > 2 || len(f.AlivePeers()) != 3 {
		return fmt.Errorf("a new file: %d timeouts, %w", d.waited, err)
	}
	if want := []int{3, 2*ncl.MaxF + 1 - 1}; !slices.Equal(d.asked, want) { // the ap-map's maximum, less the one that has answered
		return fmt.Errorf("for a new file %v were asked together, and not %v", d.asked, want)
	}
	if err := f.Record(0, []byte{1, 2, 3}); err != nil {
		return err
	}
	d.waited, d.asked = 0, nil
	d.to = append(slices.Clone(d.to), f.AlivePeers()[:2]...)
	for _, peer := range f.AlivePeers()[:2] {
		if err := ncl.Revoke(d, peer, time.Second); err != nil {
			return err
		}
	}
	for off := range 2 { // the first detects the failure, and is in the local buffer; the second is refused
		_ = f.Record(3+off, []byte{byte(4 + off)}) // too few are left
	}
	if err := f.Repair(); err != nil || d.waited > 2 || len(f.AlivePeers()) != 3 {
		return fmt.Errorf("%v after %d timeouts, %w", f.AlivePeers(), d.waited, err)
	}
	if want := []int{2, 2*ncl.MaxF + 1}; len(d.asked) < 2 || !slices.Equal(d.asked[:2], want) {
		return fmt.Errorf("for two new peers %v were asked together, and not %v", d.asked, want)
	}
	mended := f.AlivePeers()
	f.Close()
	d.to = nil
	for _, peer := range cfg.Peers {
		lent, err := ncl.Collect(d, peer, time.Second)
		if want := slices.Contains(mended, peer); err != nil || want != (lent > 0) {
			return fmt.Errorf("%s lends %d bytes, %w; the peers are %v", peer, lent, err, mended)
		}
	}
	if f, err = ncl.Recover(d, cfg, "wal"); err != nil {
		return err
	}
	return has(f, []byte{1, 2, 3, 4})
}
