package ncl

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// link is the application's side of the connection to one log peer.
type link struct {
	name     string
	cq       verbs.CQ
	prepared verbs.PreparedQP // until it is connected
	qp       verbs.QP
	err      error  // the peer has failed, and why; it is never used again
	current  window // recovery: the region to read from
	fresh    window // the region to write to

	posted, done uint64 // sequence numbers: handed to the card, completed
	asked        uint64 // recovery: the last Read

	// The two requests of a write, made once.
	wrs      [2]verbs.SendWR
	dataSGE  [1]verbs.SGE
	stampSGE [1]verbs.SGE
}

// newFile makes the local buffer and a queue pair for each peer of e. After an
// error the file can be closed, and nothing else.
func newFile(h host.Host, cfg Config, name string, e entry) (*File, error) {
	dev := h.Device()
	f := &File{h: h, cfg: cfg, name: name, entry: e, inline: dev.Attr().MaxInline, wc: make([]verbs.WC, 1)}
	if f.inline < stampSize {
		return f, fmt.Errorf("%w: the device takes %d bytes inline, and a stamp has %d", ErrConfig, f.inline, stampSize)
	}
	var err error
	if f.pd, err = dev.AllocPD(); err != nil {
		return f, err
	}
	if f.ch, err = dev.CreateCompChannel(); err != nil {
		return f, err
	}
	if f.buf, err = h.Alloc(stampSize + e.size); err != nil {
		return f, err
	}
	if f.mr, err = f.pd.RegisterMR(f.buf, verbs.LocalWrite); err != nil {
		return f, err
	}
	for _, p := range e.peers {
		l, err := f.newLink(p)
		f.links = append(f.links, l)
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// newLink makes the queues for a peer. The link is to be dropped even after an error.
func (f *File) newLink(peer string) (*link, error) {
	l := &link{name: peer}
	// A recovery may leave a Read behind for every peer that fails it.
	depth := f.cfg.QueueDepth + f.size()
	var err error
	if l.cq, err = f.h.Device().CreateCQ(depth, f.ch); err != nil {
		return l, err
	}
	l.prepared, err = f.pd.CreateQP(verbs.QPConfig{SendCQ: l.cq, RecvCQ: l.cq, MaxSendWR: depth, MaxRecvWR: 1,
		MaxSGE: 1, MaxInline: f.inline})
	return l, err
}

// drop gives back what links hold on this host.
func (f *File) drop(links []*link) {
	for _, l := range links {
		f.disconnect(l)
		if l.cq != nil {
			f.note(l.cq.Destroy())
		}
	}
}

// ask sends a request to the peers of links.
func (f *File) ask(o op, links []*link) host.Gather {
	calls := make([]host.Call, len(links))
	for i, l := range links {
		r := request{op: o, generation: f.entry.generation, app: f.cfg.App, file: f.name, size: f.entry.size}
		if o.hasEndpoint() {
			r.endpoint = l.prepared.Endpoint()
		}
		calls[i] = host.Call{To: l.name, Service: service, Body: r.encode()}
	}
	return f.h.Gather(calls, f.cfg.CallTimeout)
}

// accept takes a peer's answer to alloc, join or recover, and connects to the
// queue pair and the regions that it offers.
func (l *link) accept(a *host.Answer, to op, size int) error {
	if err := l.answered(a, to); err != nil {
		return err
	}
	o, err := decodeOffer(a.Body, to)
	if err != nil {
		return fmt.Errorf("%v at peer %s: %w: an answer of %d bytes", to, l.name, err, len(a.Body))
	}
	if o.fresh.size != size || to == opRecover && o.current.size != size {
		return fmt.Errorf("%v at peer %s: %w: its region is not of %d bytes", to, l.name, ErrMalformed, size)
	}
	l.current, l.fresh = o.current, o.fresh
	if l.qp, err = l.prepared.Connect(o.endpoint); err != nil {
		return fmt.Errorf("peer %s: %w", l.name, err)
	}
	l.prepared = nil
	return nil
}

// answered is nil if the peer has carried out the request.
func (l *link) answered(a *host.Answer, to op) error {
	var rejected *host.RemoteError
	switch {
	case a.Pending():
		return fmt.Errorf("%v at peer %s: %w", to, l.name, host.ErrTimeout)
	case errors.As(a.Err, &rejected):
		return fmt.Errorf("%v at peer %s: %w: %w", to, l.name, ErrRejected, a.Err)
	case a.Err != nil:
		return fmt.Errorf("%v at peer %s: %w", to, l.name, a.Err)
	case !to.hasEndpoint() && len(a.Body) > 0:
		return fmt.Errorf("%v at peer %s: %w: an answer of %d bytes", to, l.name, ErrMalformed, len(a.Body))
	}
	return nil
}

// prepareWrites fills in what all writes to the peer have in common.
func (f *File) prepareWrites(l *link) {
	l.dataSGE[0].LKey = f.mr.LKey()
	l.stampSGE[0] = verbs.SGE{Addr: f.mr.Addr(), Length: stampSize, LKey: f.mr.LKey()}
	l.wrs[0] = verbs.SendWR{Op: verbs.OpWrite, RKey: l.fresh.key, SGL: l.dataSGE[:]}
	l.wrs[1] = verbs.SendWR{Op: verbs.OpWrite, RKey: l.fresh.key, RemoteAddr: l.fresh.addr, SGL: l.stampSGE[:],
		Flags: verbs.Inline | verbs.Signaled}
	l.posted, l.done = f.stamp.Seq(), f.stamp.Seq()
}

// fail declares a peer failed (4.5.2): it crashed, is out of reach, or has revoked
// its memory. What was posted to it may still arrive.
func (f *File) fail(l *link, cause error) {
	f.h.Logf("peer %s has failed: %v", l.name, cause)
	l.err = cause
	f.disconnect(l)
}

func (f *File) disconnect(l *link) {
	if l.prepared != nil {
		f.note(l.prepared.Destroy())
	}
	if l.qp != nil {
		f.note(l.qp.Destroy())
	}
	l.prepared, l.qp = nil, nil
}

// alive counts the peers that have not failed.
func (f *File) alive() int {
	n := 0
	for _, l := range f.links {
		if l.err == nil {
			n++
		}
	}
	return n
}

// unavailable says why fewer than f+1 peers are left.
func (f *File) unavailable() error {
	err := fmt.Errorf("%w: %d of %d peers are left and %d are needed", ErrUnavailable, f.alive(), len(f.links), f.quorum())
	for _, l := range f.links {
		if l.err != nil {
			err = fmt.Errorf("%w; %w", err, l.err)
		}
	}
	return err
}

// linkOf is the index of the link whose queue cq is, or -1.
func (f *File) linkOf(cq verbs.CQ) int {
	for i, l := range f.links {
		if l.cq == cq {
			return i
		}
	}
	return -1
}

// Close gives back what the handle holds on this host. The file stays.
func (f *File) Close() {
	if f.closed {
		return
	}
	f.closed = true
	f.drop(f.links)
	if f.ch != nil {
		f.note(f.ch.Destroy())
	}
	if f.mr != nil {
		f.note(f.mr.Dereg())
	}
	if f.buf != nil {
		f.note(f.buf.Free())
	}
	if f.pd != nil {
		f.note(f.pd.Dealloc())
	}
}

// note logs an error of giving something back.
func (f *File) note(err error) {
	if err != nil {
		f.h.Logf("close file %q: %v", f.name, err)
	}
}
