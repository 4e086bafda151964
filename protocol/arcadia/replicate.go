package arcadia

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// piece is the largest length of one Write or Read.
const piece = 1 << 30

// Load implements Store.
func (r *Replicas) Load(off int, p []byte) error { return host.TryLoad(r.mem.Region, off, p) }

// Store implements Store.
func (r *Replicas) Store(off int, p []byte) { r.mem.Region.Store(off, p) }

// Force implements Store: it is the replication primitive (3, 4.2). It writes the range to all backups at once, and
// returns when each of them has persisted it or failed. The error wraps ErrQuorum: fewer than W copies are left, and
// some of them may have the range.
func (r *Replicas) Force(off, n int) error {
	if n == 0 {
		return nil
	}
	off, n = off&^(word-1), n+off&(word-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Order == FlushBefore {
		r.flush(off, n)
	}
	for _, x := range r.backups {
		r.write(x, r.mem, off, off, n)
	}
	if r.cfg.Order == FlushParallel {
		r.flush(off, n)
	}
	err := r.quorum()
	if r.cfg.Order == FlushAfter {
		r.flush(off, n)
	}
	return err
}

// flush applies the persistence primitive to the copy of this host.
func (r *Replicas) flush(off, n int) {
	if !r.cfg.RemoteOnly {
		r.mem.Region.Flush(off, n)
		r.mem.Region.Fence()
	}
}

// write writes a range to one backup, and requests that it be persisted.
func (r *Replicas) write(x *replica, m *lend.Memory, from, off, n int) {
	for n > 0 && x.conn.Err == nil {
		k := min(n, piece)
		for x.conn.Err == nil && x.asked-x.answered == inFlight {
			r.next()
		}
		imm, err := immediate(off, k, r.cfg.Size)
		if err != nil {
			r.group.Fail(x.conn, err)
			return
		}
		x.sge[0] = m.SGE(from, k)
		if x.conn.Err != nil {
			return
		}
		x.wr[0] = verbs.SendWR{Op: verbs.OpWriteImm, Imm: imm, RemoteAddr: x.conn.Windows[0].Addr + uint64(off), RKey: x.conn.Windows[0].RKey, SGL: x.sge[:]}
		if post(r.group, x.conn, x.wr[:]) == nil {
			x.asked++
		}
		from, off, n = from+k, off+k, n-k
	}
}

// quorum waits until every backup has answered or failed. At least W copies must be left.
func (r *Replicas) quorum() error {
	r.everybody()
	if n := r.count(all); n < r.cfg.Quorum {
		return because(fmt.Errorf("%w: %d of %d copies are left; %d are needed", ErrQuorum, n, r.cfg.copies(), r.cfg.Quorum), r.why())
	}
	return nil
}

// everybody waits until every backup has answered or failed.
func (r *Replicas) everybody() {
	for r.count((*replica).done) < r.count(all) {
		r.next()
	}
}

func (x *replica) done() bool { return x.asked == x.answered }

func all(*replica) bool { return true }

// next waits for one completion. A backup that takes too long has failed. Its connection is closed at once, so that
// it does not become consistent again by accident (4.2).
func (r *Replicas) next() {
	if r.take() {
		return
	}
	if _, err := r.group.Next(r.conns); err != nil {
		for _, x := range r.backups {
			if x.conn.Err == nil && !x.done() {
				r.group.Fail(x.conn, fmt.Errorf("backup %s: %w", x.conn.Peer, err))
			}
		}
	}
	r.take()
}

// take processes the answers that have arrived, and reports whether there were any.
func (r *Replicas) take() bool {
	any := false
	for _, x := range r.backups {
		for x.conn.Err == nil {
			wc, ok := x.conn.Received()
			if !ok {
				break
			}
			any = true
			if err := x.answers(wc); err != nil {
				r.group.Fail(x.conn, fmt.Errorf("backup %s: %w", x.conn.Peer, err))
			}
		}
	}
	return any
}

// answers processes the answer to the oldest request.
func (x *replica) answers(wc verbs.WC) error {
	if wc.Op != verbs.WCRecv || !wc.HasImm || wc.Imm != uint32(x.answered+1) || x.done() {
		return fmt.Errorf("%w: %v with immediate %d, after answers to %d of %d requests", ErrNonsense, wc.Op, wc.Imm, x.answered, x.asked)
	}
	if x.answered++; x.answered%inFlight != 0 {
		return nil
	}
	return x.conn.PostRecv(x.recv[:])
}

// read reads a range of one backup's copy into memory of this host (5.4).
func (r *Replicas) read(x *replica, m *lend.Memory, to, off, n int) error {
	for n > 0 {
		k := min(n, piece)
		w := x.conn.Windows[0]
		x.sge[0] = m.SGE(to, k)
		if err := r.group.Do(x.conn, verbs.SendWR{Op: verbs.OpRead, RemoteAddr: w.Addr + uint64(off), RKey: w.RKey, SGL: x.sge[:]}); err != nil {
			return fmt.Errorf("read the copy of %s: %w", x.conn.Peer, err)
		}
		to, off, n = to+k, off+k, n-k
	}
	return nil
}

// Fetch reads a range of a backup's copy into the copy of this host, without making it durable. If the backup has
// failed, the error is the reason.
func (r *Replicas) Fetch(backup string, off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.backups {
		switch {
		case x.conn.Peer != backup:
		case x.conn.Err != nil:
			return x.conn.Err
		case off < 0 || n < 0 || off > r.cfg.Size-n:
			return fmt.Errorf("%w: %d bytes at %d of %d", ErrTooLarge, n, off, r.cfg.Size)
		default:
			return r.read(x, r.mem, off, off, n)
		}
	}
	return fmt.Errorf("%w: %s is not a backup", ErrConfig, backup)
}
