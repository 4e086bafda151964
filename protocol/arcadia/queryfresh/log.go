package queryfresh

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors, to be tested with errors.Is.
var (
	// ErrConfig: the configuration is invalid.
	ErrConfig = errors.New("queryfresh: bad configuration")
	// ErrFull: the log has no room for the block.
	ErrFull = errors.New("queryfresh: the log is full")
	// ErrBackup: a backup is out of reach or violates the protocol. The log accepts nothing more: open it again.
	ErrBackup = errors.New("queryfresh: a backup failed")
)

// MinSize and MaxSize bound Config.Size.
const (
	MinSize = headerSize + 8
	MaxSize = 1 << 30
)

// Config describes a log, on the primary and on each backup.
type Config struct {
	// Name names the persistent region, and the service of a backup.
	Name string
	// Size is the size of the region in bytes, a multiple of 8. It is the same on all hosts.
	Size int
	// Backups are the hosts that run [Backup.Serve]; a primary may have none.
	Backups []string
	// Timeout bounds each wait for a backup; 0 or less: no bound.
	Timeout time.Duration
}

// Validate checks c; Open and NewBackup call it.
func (c *Config) Validate() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: Name is empty; it names the persistent region", ErrConfig)
	case c.Size < MinSize || c.Size > MaxSize || c.Size%8 != 0:
		return fmt.Errorf("%w: Size is %d; it must be a multiple of 8 from %d to %d", ErrConfig, c.Size, MinSize, MaxSize)
	}
	return nil
}

// Log is the log of a primary. It is safe for concurrent use: one lock covers each call.
type Log struct {
	mu      host.Mutex
	g       *lend.Group
	mem     *lend.Loan
	backups []*lend.Conn
	buf     []byte
	end     int // of the blocks
	durable int // the end of the blocks that are durable on all hosts
	err     error
}

// Open recovers the log of a host, or creates it, and ships it to the backups, which discard their old content
// (bring_up_backup_rdma). A backup whose primary has failed opens its own copy in this way. The error wraps ErrConfig or
// ErrBackup, or comes from the host.
func Open(h host.Host, cfg Config) (_ *Log, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l := &Log{mu: h.NewMutex()}
	if l.g, err = lend.NewGroup(h); err != nil {
		return nil, err
	}
	lender, err := l.g.Lender()
	if err == nil {
		l.mem, err = lender.LendPersistent(cfg.Name, cfg.Size, 0)
	}
	if err == nil {
		l.end, err = scan(l.mem.Region, func([]byte) error { return nil })
	}
	if err == nil {
		err = truncate(l.mem.Region, l.end)
	}
	if err != nil {
		return nil, fmt.Errorf("queryfresh: open %s: %w", cfg.Name, err)
	}
	if cfg.Timeout > 0 {
		l.g.Timeout = cfg.Timeout
	}
	for _, b := range cfg.Backups {
		c, err := l.g.Dial(b, cfg.Name, nil, 1, verbs.QPConfig{MaxRecvWR: 1}, l.g.Timeout)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBackup, err)
		}
		if n := c.Windows[0].Len; n != cfg.Size {
			return nil, fmt.Errorf("%w: the log of %s has %d bytes, this one has %d", ErrBackup, b, n, cfg.Size)
		}
		l.backups = append(l.backups, c)
	}
	return l, l.Commit()
}

// Append adds a block to the group. [Log.Commit] makes it durable. The error wraps ErrFull or ErrBackup; then nothing
// was added.
func (l *Log) Append(data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := blockSize(len(data))
	switch {
	case l.err != nil:
		return l.err
	case n > l.mem.Region.Len()-l.end:
		return fmt.Errorf("%w: a block of %d bytes; there is room for %d", ErrFull, len(data), max(0, l.mem.Region.Len()-l.end-headerSize))
	}
	if cap(l.buf) < n {
		l.buf = make([]byte, n)
	}
	b := l.buf[:n]
	putBlock(b, l.end, data)
	l.mem.Region.Store(l.end, b)
	l.end += n
	return nil
}

// Commit makes all appended blocks durable, here and on all backups (group commit). The error wraps ErrBackup: the blocks
// may or may not be durable.
func (l *Log) Commit() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, n := l.durable, l.end-l.durable
	if l.err != nil || n == 0 {
		return l.err
	}
	for _, c := range l.backups {
		if l.err = l.ship(c, from, n); l.err != nil {
			return l.err
		}
	}
	l.mem.Region.Flush(from, n)
	l.mem.Region.Fence()
	for _, c := range l.backups {
		if l.err = l.persisted(c); l.err != nil {
			return l.err
		}
	}
	l.durable += n
	return nil
}

// ship writes n bytes to a backup (primary_ship_log_buffer_rdma).
func (l *Log) ship(c *lend.Conn, from, n int) error {
	err := c.PostRecv(make([]verbs.RecvWR, 1)) // for the answer
	w := c.Windows[0]
	l.g.Room(c, 1)
	if err == nil && !l.g.Post(c, []verbs.SendWR{{Op: verbs.OpWriteImm, RemoteAddr: w.Addr + uint64(from), RKey: w.RKey,
		SGL: []verbs.SGE{l.mem.SGE(from, n)}, Flags: verbs.Signaled}}) {
		err = c.Err
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBackup, c.Peer, err)
	}
	return nil
}

// persisted waits until a backup acknowledges the group as persistent (primary_rdma_wait_for_message).
func (l *Log) persisted(c *lend.Conn) error {
	wc, err := l.g.Receive(c)
	if err != nil {
		return fmt.Errorf("%w: %s does not answer: %w", ErrBackup, c.Peer, err)
	}
	if wc.Op != verbs.WCRecv || wc.ByteLen != 0 {
		return fmt.Errorf("%w: %s answers with %v of %d bytes", ErrBackup, c.Peer, wc.Op, wc.ByteLen)
	}
	return nil
}

// Each calls f with the data of each block, durable or not. It stops at the first error of f and returns it. data is
// valid until f returns; f must not use the log. A damaged block ends the log.
func (l *Log) Each(f func(data []byte) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := scan(l.mem.Region, f)
	return err
}
