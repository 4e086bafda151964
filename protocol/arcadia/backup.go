package arcadia

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// service returns the name of the service of a log's backups.
func service(name string) string { return "arcadia/" + name }

// BackupConfig describes a copy of a log. Name and Size are those of the log's Config.
type BackupConfig struct {
	Name string
	Size int
}

// Validate checks c; ServeBackup calls it.
func (c *BackupConfig) Validate() error {
	local := Config{Name: c.Name, Size: c.Size}
	if err := local.Validate(); err != nil {
		return err
	}
	if c.Size > MaxReplicatedSize {
		return fmt.Errorf("%w: Size is %d; on a backup it must be at most %d", ErrConfig, c.Size, MaxReplicatedSize)
	}
	return nil
}

// Reasons to refuse a primary.
var (
	errEpoch = errors.New("the epoch is not newer")
	errSize  = errors.New("the log has a different size")
)

// backup is a copy of a log on a host that is not the primary. It does not interpret records. It persists the
// ranges that the primary names, and serves one primary at a time.
type backup struct {
	h       host.Host
	group   *lend.Group
	log     *lend.Loan
	epoch   uint64   // of the latest primary; 0 after a restart
	primary *session // nil: none yet
}

// ServeBackup keeps a copy of a log for primaries (4.2). It returns only when requests can no longer be received, or
// with an error that wraps ErrConfig or comes from the host.
func ServeBackup(h host.Host, cfg BackupConfig) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	b := &backup{h: h}
	if err := b.open(cfg); err != nil {
		return fmt.Errorf("arcadia: backup of %s: %w", cfg.Name, err)
	}
	return fmt.Errorf("arcadia: backup of %s: %w", cfg.Name, lend.Serve(h, service(cfg.Name), b.admit))
}

func (b *backup) open(cfg BackupConfig) (err error) {
	if b.group, err = lend.NewGroup(b.h); err != nil {
		return err
	}
	lender, err := b.group.Lender()
	if err != nil {
		return errors.Join(err, b.group.Close())
	}
	if b.log, err = lender.LendPersistent(cfg.Name, cfg.Size, verbs.RemoteWrite|verbs.RemoteRead); err != nil {
		return errors.Join(err, lender.Close(), b.group.Close())
	}
	return nil
}

// hello encodes the greeting of a primary.
func hello(epoch uint64, size int) []byte {
	b := binary.BigEndian.AppendUint64(nil, epoch)
	return binary.BigEndian.AppendUint64(b, uint64(size))
}

// admit replaces the earlier primary by a new one (4.2, "Handling Primary Failure"). The earlier primary may have
// written data that it did not force. Admit makes them durable before the new primary can read the copy: a recovery
// may return them.
func (b *backup) admit(v *lend.Visitor) error {
	r := wire.NewReader(v.Said)
	epoch, size := r.Uint64(), r.Int(0, MaxReplicatedSize)
	switch {
	case r.End() != nil:
		return fmt.Errorf("%w: greeting %q", ErrNonsense, v.Said)
	case size != b.log.Region.Len():
		return fmt.Errorf("%w: %d bytes on the backup, %d on the primary", errSize, b.log.Region.Len(), size)
	case epoch <= b.epoch:
		return fmt.Errorf("%w: the backup has seen epoch %d, the primary has %d", errEpoch, b.epoch, epoch)
	}
	b.epoch = epoch
	b.fence()
	scrub(b.log.Region)
	c, err := v.Meet(b.group, queues(verbs.RemoteWrite|verbs.RemoteRead), b.log)
	if err != nil {
		return err
	}
	if err := c.PostRecv(make([]verbs.RecvWR, 2*inFlight)); err != nil {
		return errors.Join(err, b.group.Drop(c))
	}
	b.primary = newSession(b, c)
	b.h.Go("persist for "+v.From, b.primary.serve)
	return nil
}

// fence closes the connection of the primary. Requests that have not been executed by then are never executed.
func (b *backup) fence() {
	if b.primary == nil {
		return
	}
	if err := b.primary.end(); err != nil {
		b.h.Logf("close the connection of the primary %s: %v", b.primary.conn.Peer, err)
	}
	b.primary = nil
}

// scrub makes the current content of a copy durable. If part of the copy is unreadable, its content there is unknown.
// The copy then loses its superlines, so it does not count, and a recovery repairs it from other copies.
func scrub(r host.Region) {
	damaged := false
	p := make([]byte, chunk)
	for off := 0; off < r.Len(); off += chunk {
		if p := p[:min(chunk, r.Len()-off)]; host.TryLoad(r, off, p) != nil {
			r.Store(off, make([]byte, len(p)))
			damaged = true
		}
	}
	if damaged {
		r.Store(0, make([]byte, ringAt))
	}
	r.Flush(0, r.Len())
	r.Fence()
}
