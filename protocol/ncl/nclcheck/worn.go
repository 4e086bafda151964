package nclcheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// wearingOut uses the last sequence number of a file.
func wearingOut(r *run) {
	ws := r.writes()
	f := r.create()
	if f == nil {
		return
	}
	f.Close()
	if f = r.reopened(2, ncl.MaxSeq-2); f == nil || !r.record(f, ws[0]) || !r.record(f, ws[1]) || !r.worn(f, 2) {
		return
	}
	f.Close()
	if f = r.reopened(3, ncl.MaxSeq); f != nil && r.worn(f, 3) {
		r.done(f.Release())
	}
}

// reopened recovers the file and expects its stamp.
func (r *run) reopened(epoch uint32, seq uint64) *ncl.File {
	f := r.recover()
	if f == nil || !r.expect("a recovery", f.Stamp() == ncl.MakeStamp(epoch, seq)) {
		return nil
	}
	return f
}

// worn expects that the file refuses a write, that the write has no effect, and that a write of no bytes is
// accepted.
func (r *run) worn(f *ncl.File, epoch uint32) bool {
	before, after := make([]byte, r.load.size), make([]byte, r.load.size)
	_, failed := f.ReadAt(before, 0)
	refused := f.Record(16, []byte("too many"))
	_, err := f.ReadAt(after, 0)
	return r.done(failed) && r.done(err) && r.done(f.Record(16, nil)) &&
		r.expect("a write without a number", errors.Is(refused, ncl.ErrExhausted) && string(before) == string(after)) &&
		r.expect("the last number", f.Stamp() == ncl.MakeStamp(epoch, ncl.MaxSeq))
}

// wornPeer is a log peer's host. The first region that it lends has the stamp of the third last write, as if all
// writes before had been made, each of zeros.
type wornPeer struct {
	host.Host
	regions *[]host.Region
}

func (p wornPeer) Alloc(size int) (host.Region, error) {
	r, err := p.Host.Alloc(size)
	if err == nil && len(*p.regions) == 0 {
		r.Store64(0, uint64(ncl.MakeStamp(1, ncl.MaxSeq-2)))
	}
	*p.regions = append(*p.regions, r)
	return r, err
}
