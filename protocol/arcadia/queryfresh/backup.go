package queryfresh

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Backup receives the log of a primary that lists this host as a backup. It is safe for concurrent use.
type Backup struct {
	h       host.Host
	cfg     Config
	g       *lend.Group
	mem     *lend.Loan
	mu      host.Mutex
	primary verbs.QP // the connection to the latest primary; nil: none
	over    bool     // this host has taken over
}

// NewBackup makes this host a backup; [Backup.Serve] accepts primaries. The error wraps ErrConfig, or comes from the
// host.
func NewBackup(h host.Host, cfg Config) (*Backup, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g, err := lend.NewGroup(h)
	if err != nil {
		return nil, err
	}
	lender, err := g.Lender()
	if err != nil {
		return nil, err
	}
	mem, err := lender.LendPersistent(cfg.Name, cfg.Size, verbs.RemoteWrite)
	if err != nil {
		return nil, err
	}
	return &Backup{h: h, cfg: cfg, g: g, mem: mem, mu: h.NewMutex()}, nil
}

// Serve receives logs until requests can no longer be received. A new primary replaces the earlier one: the backup clears
// its copy, and the new primary ships its log from the start.
func (b *Backup) Serve() error {
	return lend.Serve(b.h, b.cfg.Name, func(v *lend.Visitor) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.over {
			return fmt.Errorf("%w: this host has taken over", ErrBackup)
		}
		if err := b.end(); err != nil {
			return err
		}
		if err := truncate(b.mem.Region, 0); err != nil { // TruncateFilesInLogDir
			return err
		}
		c, err := v.Meet(b.g, verbs.QPConfig{Access: verbs.RemoteWrite, MaxRecvWR: 1}, b.mem)
		if err != nil {
			return err
		}
		if err := c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
			return err
		}
		b.primary = c.QP
		b.h.Go("persist for "+v.From, func() {
			x := replica{b, c, c.QP, 0}
			err := x.receive()
			for err == nil {
				err = x.receive()
			}
			b.h.Logf("the connection of primary %s is closed: %v, %v", v.From, err, b.g.Drop(c))
		})
		return nil
	})
}

// end closes the connection of the primary: from then on none of its Writes reaches memory. The caller holds the mutex.
func (b *Backup) end() error {
	qp := b.primary
	b.primary = nil
	if qp == nil {
		return nil
	}
	err := qp.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	if errors.Is(err, verbs.ErrClosed) {
		return nil // the connection has failed
	}
	return err
}

// TakeOver opens the copy of this host as a primary without backups. It first closes the connection of the primary, even
// if the primary is still alive. (ERMIA does not fence the primary.)
func (b *Backup) TakeOver() (*Log, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if err := b.end(); err != nil {
		return nil, err
	}
	cfg := b.cfg
	cfg.Backups = nil
	return Open(b.h, cfg)
}

// replica is the copy of one primary's log.
type replica struct {
	b   *Backup
	c   *lend.Conn
	qp  verbs.QP // of c
	end int      // of the data received
}

// receive receives the next bytes of the log, persists them, and acknowledges them (BackupDaemonRdma).
func (x *replica) receive() error {
	b := x.b
	wc, err := b.g.Receive(x.c)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.primary != x.qp {
		return fmt.Errorf("%w: another primary has connected", ErrBackup)
	}
	n := int(wc.ByteLen)
	if wc.Op != verbs.WCRecvWriteImm || n > b.mem.Region.Len()-x.end {
		return fmt.Errorf("%w: %s sends %v of %d bytes at %d of %d", ErrBackup, x.c.Peer, wc.Op, n, x.end, b.mem.Region.Len())
	}
	b.mem.Region.Flush(x.end, n)
	b.mem.Region.Fence()
	x.end += n
	if err := x.c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
		return err
	}
	b.g.Room(x.c, 1)
	if !b.g.Post(x.c, []verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Signaled}}) {
		return x.c.Err
	}
	return nil
}
