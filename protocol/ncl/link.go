package ncl

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// link is the application's side of the connection to one log peer. The peer lends the
// region to write. For a recovery it also lends the region to read, as the first window.
type link = lend.Conn

func current(l *link) lend.Window { return l.Windows[0] }
func fresh(l *link) lend.Window   { return l.Windows[len(l.Windows)-1] }

// newFile creates the local buffer and a queue pair for each peer of e. After an error
// the file can only be closed.
func newFile(h host.Host, cfg Config, name string, e entry) (*File, error) {
	f := &File{h: h, cfg: cfg, name: name, entry: e, inline: h.Device().Attr().MaxInline}
	if f.inline < stampSize {
		return f, fmt.Errorf("%w: the device takes %d bytes inline, and a stamp has %d", ErrConfig, f.inline, stampSize)
	}
	var err error
	if f.group, err = lend.NewGroup(h); err != nil {
		return f, err
	}
	f.group.Timeout = cfg.CompletionTimeout
	if f.buf, err = f.group.Register(stampSize + e.size); err != nil {
		return f, err
	}
	f.prepareWrites()
	for _, p := range e.peers {
		l, err := f.newLink(p)
		if err != nil {
			return f, err
		}
		f.links = append(f.links, l)
	}
	return f, nil
}

// newLink creates the queues for a peer.
func (f *File) newLink(peer string) (*link, error) {
	return f.group.Prepare(peer, verbs.QPConfig{MaxSendWR: f.cfg.QueueDepth, MaxRecvWR: 1, MaxSGE: 1, MaxInline: f.inline})
}

// drop releases the resources of links on this host.
func (f *File) drop(links ...*link) { f.note(f.group.Drop(links...)) }

// ask sends a request to the peers of links.
func (f *File) ask(o op, links []*link) host.Gather {
	return f.group.Ask(links, service, func(l *link) []byte {
		r := request{op: o, generation: f.entry.generation, app: f.cfg.App, file: f.name, size: f.entry.size}
		if o.hasEndpoint() {
			r.endpoint = l.Endpoint()
		}
		return r.encode()
	}, f.cfg.CallTimeout)
}

// accept decodes a peer's answer to alloc, join or recover, and connects to the queue
// pair and the regions that it offers.
func accept(l *link, a *host.Answer, to op, size int) error {
	if err := answered(l, a, to); err != nil {
		return err
	}
	g, err := lend.DecodeGreeting(a.Body, to.windows())
	if err != nil {
		return fmt.Errorf("%v at peer %s: %w: %w", to, l.Peer, ErrMalformed, err)
	}
	for _, w := range g.Windows {
		if w.Len != stampSize+size {
			return fmt.Errorf("%v at peer %s: %w: its region has %d bytes, not %d", to, l.Peer, ErrMalformed, w.Len, stampSize+size)
		}
	}
	l.Windows = g.Windows
	if err := l.Connect(g.Endpoint); err != nil {
		return fmt.Errorf("peer %s: %w", l.Peer, err)
	}
	return nil
}

// answered returns nil if the peer has carried out the request.
func answered(l *link, a *host.Answer, to op) error {
	var rejected *host.RemoteError
	switch {
	case a.Pending():
		return fmt.Errorf("%v at peer %s: %w", to, l.Peer, host.ErrTimeout)
	case errors.As(a.Err, &rejected):
		return fmt.Errorf("%v at peer %s: %w: %w", to, l.Peer, ErrRejected, a.Err)
	case a.Err != nil:
		return fmt.Errorf("%v at peer %s: %w", to, l.Peer, a.Err)
	case !to.hasEndpoint() && len(a.Body) > 0:
		return fmt.Errorf("%v at peer %s: %w: an answer of %d bytes", to, l.Peer, ErrMalformed, len(a.Body))
	}
	return nil
}

// prepareWrites fills in the fields that all writes share.
func (f *File) prepareWrites() {
	f.stampSGE[0] = f.buf.SGE(0, stampSize)
	f.wrs[0] = verbs.SendWR{Op: verbs.OpWrite, SGL: f.dataSGE[:]}
	f.wrs[1] = verbs.SendWR{Op: verbs.OpWrite, SGL: f.stampSGE[:], Flags: verbs.Inline | verbs.Signaled}
}

// alive counts the peers that have not failed.
func (f *File) alive() int { return quorum.Count(f.links, isAlive) }

func isAlive(l *link) bool { return l.Err == nil }

// unavailable explains why fewer than f+1 peers are left.
func (f *File) unavailable() error {
	err := fmt.Errorf("%w: %d of %d peers are left and %d are needed", ErrUnavailable, f.alive(), len(f.links), f.quorum())
	for _, l := range f.links {
		if l.Err != nil {
			err = fmt.Errorf("%w; %w", err, l.Err)
		}
	}
	return err
}

// Close releases the resources of the handle on this host. The file stays.
func (f *File) Close() {
	if f.closed {
		return
	}
	f.closed = true
	if f.group == nil {
		return
	}
	f.drop(f.links...)
	if f.buf != nil {
		f.note(f.buf.Free())
	}
	f.note(f.group.Close())
}

// note logs an error of a release.
func (f *File) note(err error) {
	if err != nil {
		f.h.Logf("close file %q: %v", f.name, err)
	}
}
