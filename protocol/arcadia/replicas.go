package arcadia

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Replicas is the primary's view of persistent memory with copies on other hosts. It is a [Store] whose Force is
// the replication primitive (3). All copies have the same layout. Store and Load access the copy of this host.
//
// Force is safe for concurrent use; concurrent calls run one after the other.
type Replicas struct {
	h       host.Host
	cfg     Config
	group   *lend.Group
	mem     *lend.Memory // of this host
	backups []*replica

	mu    host.Mutex // guards the fields below and the connections
	conns []*lend.Conn
	// scratch is a buffer for superlines and images of other copies.
	scratch *lend.Memory
}

// replica is a copy on another host. A backup answers in the order of the requests, so two counters show which
// requests it has persisted.
type replica struct {
	conn            *lend.Conn
	asked, answered uint64

	wr   [1]verbs.SendWR
	sge  [1]verbs.SGE
	recv [inFlight]verbs.RecvWR
}

// Connect opens this host's copy and connects to the backups, as the primary of an epoch. From then on no earlier
// primary can change the copies of these backups, and their content is durable. A backup that is out of reach, or
// refuses, counts as failed. The error wraps ErrConfig, or comes from the host.
func Connect(h host.Host, cfg Config, epoch uint64) (*Replicas, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !cfg.replicated() {
		return nil, fmt.Errorf("%w: there are no Backups", ErrConfig)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if !cfg.RemoteOnly && slices.Contains(cfg.Backups, h.Name()) {
		return nil, fmt.Errorf("%w: this host, %s, has a copy of its own and must not be among the Backups", ErrConfig, h.Name())
	}
	r := &Replicas{h: h, cfg: cfg, mu: h.NewMutex()}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.meet(epoch)
	return r, nil
}

// open allocates the resources of this host.
func (r *Replicas) open() (err error) {
	if r.group, err = lend.NewGroup(r.h); err != nil {
		return err
	}
	r.group.Timeout = r.cfg.Timeout
	if r.mem, err = r.local(); err != nil {
		return err
	}
	if r.scratch, err = r.group.Register(min(r.cfg.Size, 1<<20)); err != nil {
		return err
	}
	for _, name := range r.cfg.Backups {
		c, err := r.group.Prepare(name, queues(0))
		if err != nil {
			return err
		}
		r.backups, r.conns = append(r.backups, &replica{conn: c}), append(r.conns, c)
		if err := c.PostRecv(make([]verbs.RecvWR, 2*inFlight)); err != nil {
			return err
		}
	}
	return nil
}

// local opens the copy of this host, and makes it durable: a killed process may have left part of it in the caches.
func (r *Replicas) local() (*lend.Memory, error) {
	if r.cfg.RemoteOnly {
		return r.group.Register(r.cfg.Size)
	}
	region, err := r.h.OpenPMEM(r.cfg.Name, r.cfg.Size)
	if err != nil {
		return nil, err
	}
	scrub(region)
	return r.group.RegisterRegion(region)
}

// meet connects to the backups, one after the other.
func (r *Replicas) meet(epoch uint64) {
	said := hello(epoch, r.cfg.Size)
	for i := range r.conns {
		c := r.conns[i]
		answers := r.group.Ask(r.conns[i:i+1], service(r.cfg.Name), func(c *lend.Conn) []byte {
			return append(lend.AppendEndpoint(nil, c.Endpoint()), said...)
		}, r.cfg.Timeout).Wait(1)
		if err := c.Answered(&answers[0], r.cfg.Size); err != nil {
			r.group.Fail(c, fmt.Errorf("backup %s: %w", c.Peer, nonsense(err)))
		}
	}
}

// nonsense returns the error for a malformed answer of a backup.
func nonsense(err error) error {
	if errors.Is(err, lend.ErrMalformed) {
		return fmt.Errorf("%w: %w", ErrNonsense, err)
	}
	return err
}

// Region returns the copy of this host, in persistent memory or, with RemoteOnly, in DRAM.
func (r *Replicas) Region() host.Region { return r.mem.Region }

// Alive returns the number of copies that have not failed.
func (r *Replicas) Alive() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count(func(*replica) bool { return true })
}

// count counts the copies that have not failed: the copy of this host, and the backups that satisfy is.
func (r *Replicas) count(is func(*replica) bool) int {
	n := r.cfg.copies() - len(r.backups)
	for _, x := range r.backups {
		if x.conn.Err == nil && is(x) {
			n++
		}
	}
	return n
}

// because adds to an error the reason why backups have failed; why is nil if no backup has failed.
func because(err, why error) error {
	if why == nil {
		return err
	}
	return fmt.Errorf("%w: %w", err, why)
}

// why returns the errors of the failed backups.
func (r *Replicas) why() error {
	var errs []error
	for _, c := range r.conns {
		errs = append(errs, c.Err)
	}
	return errors.Join(errs...)
}

// Close releases the resources of this host. The copies stay.
func (r *Replicas) Close() error {
	if r.group == nil {
		return nil
	}
	err := r.group.Drop(r.conns...)
	for _, m := range []*lend.Memory{r.mem, r.scratch} {
		if m != nil {
			err = errors.Join(err, m.Free())
		}
	}
	return errors.Join(err, r.group.Close())
}
