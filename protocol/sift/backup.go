package sift

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// Backup is a CPU node that several groups share (5.2): it watches all of them, and becomes
// the coordinator of one whose coordinator has failed. Then it has left the pool: it no longer
// watches the others, and the pool needs another node. Package
// [github.com/verbatim-rdma/verbatim/protocol/sift/pool] has the pool as data.
//
// Backups do not communicate. Several of them may stand in one group, and the election
// of that group decides. The paper leaves this open, and also whether a backup that serves a
// group still watches the others.
//
// Only one task may use it at a time.
type Backup struct {
	h      host.Host
	nodes  []*Node // by group
	over   []error // by group: why it is no longer followed, or nil
	period time.Duration
	serves bool
	closed bool
}

// StartBackup starts a backup for groups. Each of them has its own terms, and its own number
// for this node.
func StartBackup(h host.Host, groups []Config) (*Backup, error) {
	if len(groups) == 0 {
		return nil, fmt.Errorf("%w: a backup of no group", ErrConfig)
	}
	b := &Backup{h: h, period: groups[0].Period}
	for i, cfg := range groups {
		n, err := Start(h, cfg)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("group %d: %w", i, err), b.Close())
		}
		b.nodes, b.over = append(b.nodes, n), append(b.over, nil)
		b.period = min(b.period, cfg.Period)
	}
	return b, nil
}

// Watch is one look at the heartbeats of all groups: see [Node.Watch]. It returns the groups
// that need a new coordinator. It does not return a group without a reachable majority.
//
// The error wraps [ErrServing] if the backup has left the pool, and [ErrClosed] after Close.
func (b *Backup) Watch() (vacant []int, err error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	for g, n := range b.nodes {
		if b.over[g] != nil {
			continue
		}
		v, err := n.Watch()
		switch {
		case errors.Is(err, ErrUnavailable):
			b.h.Logf("group %d: %v", g, err)
		case err != nil:
			return nil, fmt.Errorf("group %d: %w", g, err)
		case v:
			vacant = append(vacant, g)
		}
	}
	return vacant, nil
}

// Take stands for election in a group, and makes the backup its coordinator if it wins: see
// [Node.Lead]. Otherwise it returns nil, and the backup keeps watching.
//
// The error wraps [ErrServing] if the backup serves a group already, [ErrClosed] after Close, and
// [ErrConfig] if there is no such group.
func (b *Backup) Take(group int) (*Coordinator, error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	if group < 0 || group >= len(b.nodes) {
		return nil, fmt.Errorf("%w: group %d of %d", ErrConfig, group, len(b.nodes))
	}
	c, err := b.nodes[group].take()
	if c == nil || err != nil {
		return nil, err
	}
	b.serves = true
	for g, n := range b.nodes {
		if g != group {
			err = errors.Join(err, n.Close())
		}
	}
	b.nodes = b.nodes[group : group+1]
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sift: leave the pool: %w", err), c.Close())
	}
	return c, nil
}

// usable is nil if the backup is in the pool.
func (b *Backup) usable() error {
	switch {
	case b.serves:
		return ErrServing
	case b.closed:
		return ErrClosed
	}
	return nil
}

// Follow watches until a group needs the backup and it is the coordinator of that group. It
// returns only then, or with an error that no further attempt can clear.
//
// If it cannot take a group because of such an error, it stops following it: another backup may take it. If no
// group is left, it returns the errors of all.
func (b *Backup) Follow() (group int, c *Coordinator, err error) {
	for {
		vacant, err := b.Watch()
		if err != nil {
			return 0, nil, err
		}
		for _, g := range vacant {
			c, err := b.Take(g)
			if c != nil || b.serves {
				return g, c, err
			}
			if err != nil {
				b.h.Logf("group %d is followed no longer: %v", g, err)
				b.over[g] = fmt.Errorf("group %d: %w", g, err)
			}
		}
		if !slices.Contains(b.over, nil) {
			return 0, nil, errors.Join(b.over...)
		}
		b.h.Sleep(b.period)
	}
}

// Close releases the resources of the backup, which must no longer be a coordinator.
func (b *Backup) Close() error {
	b.closed = true
	var errs []error
	for _, n := range b.nodes {
		errs = append(errs, n.Close())
	}
	b.nodes = nil
	return errors.Join(errs...)
}
