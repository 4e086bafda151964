package ncl

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// File is a handle to an ncl file: the local buffer and a queue pair to each peer (4.4,
// figure 5). Only one task may use it at a time.
type File struct {
	h      host.Host
	cfg    Config
	name   string
	entry  entry
	held   *ctrl.Entry // entry, at the controller
	stamp  Stamp       // of the last write
	group  *lend.Group
	buf    *lend.Memory
	links  []*link // one for each peer, in the order of the entry
	inline int
	closed bool

	// The two requests of a write.
	wrs      [2]verbs.SendWR
	dataSGE  [1]verbs.SGE
	stampSGE [1]verbs.SGE

	rejected error // why the last candidate is not a peer of the file
}

// Record writes data at off: the paper's record() (4.4). It returns when f+1 peers have
// completed this write and all before it. It does not allocate.
//
// Record succeeds with up to f failed peers; [File.Repair] replaces them. With more, it
// returns [ErrUnavailable], and so do all writes until a Repair succeeds. After an error a
// recovery may or may not find the write; the local buffer has it.
func (f *File) Record(off int, data []byte) error {
	if err := f.check(off, len(data)); err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	if f.stamp.Seq() == MaxSeq {
		return fmt.Errorf("%w: write %d of file %q", ErrExhausted, f.stamp.Seq(), f.name)
	}
	f.makeRoom()
	if f.alive() < f.quorum() {
		return f.unavailable()
	}
	f.stamp++ // the next sequence number of the epoch
	f.buf.Region.Store(dataAt+off, data)
	f.buf.Region.Store64(0, uint64(f.stamp))
	for _, l := range f.links {
		if l.Err == nil {
			f.post(l, off, len(data))
		}
	}
	return f.awaitQuorum()
}

// post posts a write to one peer: the data and then the stamp, on one send queue. This
// order makes the stamp vouch for the data before it (4.4).
//
// The stamp is sent inline, so the card copies it now. If the card fetched the stamp from
// the buffer later, it could get the stamp of a later write, which would vouch for data
// that has not arrived.
func (f *File) post(l *link, off, n int) {
	to := fresh(l)
	f.dataSGE[0] = f.buf.SGE(dataAt+off, n)
	f.wrs[0].RKey, f.wrs[0].RemoteAddr = to.RKey, to.Addr+uint64(dataAt+off)
	f.wrs[0].Flags = 0
	if n <= f.inline {
		f.wrs[0].Flags = verbs.Inline
	}
	f.aimStamp(to)
	f.group.Post(l, f.wrs[:])
}

// postStamp posts the last stamp alone.
func (f *File) postStamp(l *link) {
	f.aimStamp(fresh(l))
	f.group.Post(l, f.wrs[1:])
}

func (f *File) aimStamp(to lend.Window) {
	f.wrs[1].RKey, f.wrs[1].RemoteAddr, f.wrs[1].ID = to.RKey, to.Addr, f.stamp.Seq()
}

// awaitQuorum waits until the last write is complete on f+1 peers. Completions arrive
// in queue order, so the completion of a stamp covers all writes up to it.
func (f *File) awaitQuorum() error {
	for {
		if f.complete() >= f.quorum() {
			return nil
		}
		if f.alive() < f.quorum() {
			return f.unavailable()
		}
		if _, err := f.group.Next(f.links); err != nil {
			return fmt.Errorf("%w: write %v of file %q: %w", ErrUnavailable, f.stamp, f.name, err)
		}
	}
}

// makeRoom waits until each peer's send queue has room for a write.
func (f *File) makeRoom() {
	f.group.RoomAll(f.links, len(f.wrs))
}

// complete counts the peers that have everything up to the last write.
func (f *File) complete() int {
	return quorum.Count(f.links, func(l *link) bool { return l.Err == nil && l.Done == f.stamp.Seq() })
}

// quorum returns the number of peers that must have a write, and that must answer a
// recovery: any two such sets share a peer.
func (f *File) quorum() int { return f.entry.f + 1 }

// ReadAt fills p from the local buffer at off. It returns len(p), or an error.
func (f *File) ReadAt(p []byte, off int) (int, error) {
	if err := f.check(off, len(p)); err != nil {
		return 0, err
	}
	if len(p) > 0 {
		f.buf.Region.Load(dataAt+off, p)
	}
	return len(p), nil
}

func (f *File) check(off, n int) error {
	if f.closed {
		return fmt.Errorf("%w: file %q", ErrClosed, f.name)
	}
	if off < 0 || off > f.entry.size || n > f.entry.size-off {
		return fmt.Errorf("%w: %d bytes at %d of file %q, which has %d", ErrBounds, n, off, f.name, f.entry.size)
	}
	return nil
}

// Size returns the size of the file in bytes.
func (f *File) Size() int { return f.entry.size }

// Stamp returns the stamp of the last write. After a recovery its sequence number is that of
// the last recovered write.
func (f *File) Stamp() Stamp { return f.stamp }

// Release deletes the file: the paper's release() (4.3). It removes the ap-map entry,
// and then the peers free their regions; in the other order a crash in between would
// leave an entry without regions, see finding 5. An unreachable peer keeps its region
// until it collects (4.5.1). After an error Release can be called again.
func (f *File) Release() error {
	if f.closed {
		return fmt.Errorf("%w: file %q", ErrClosed, f.name)
	}
	if err := stale(f.held.Delete()); err != nil {
		return fmt.Errorf("ncl: release %q: %w", f.name, err)
	}
	f.ask(opRelease, f.links).Wait(len(f.links))
	f.Close()
	return nil
}

// Alive counts the peers that this handle still writes to.
func (f *File) Alive() int { return f.alive() }

// Peers returns the names of the file's peers, as in the ap-map.
func (f *File) Peers() []string { return linkNames(f.links) }

// AlivePeers returns the names of the peers to which this handle still writes.
func (f *File) AlivePeers() []string { return linkNames(f.working()) }
