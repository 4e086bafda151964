package arcadia

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/entry"
)

// promise is the entry of a log at the cluster's service. In the paper the epoch is in the superlines alone, and a
// recovery adds 1 to the largest epoch that it finds (4.2). Two recoveries that reach different copies may then use the
// same epoch: finding 12. So the service promises an epoch before any copy has it.
type promise struct {
	epoch   uint64
	created bool // a recovery has finished: a copy without superline has lost its content
	quorum  int
	members []string // the hosts with copies
}

func (p *promise) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, p.epoch)
	b = wire.AppendBool(b, p.created)
	b = binary.BigEndian.AppendUint64(b, uint64(p.quorum))
	for _, m := range p.members {
		b = wire.AppendString(b, m)
	}
	return b
}

func decodePromise(b []byte) (promise, error) {
	r := wire.NewReader(b)
	p := promise{epoch: r.Uint64(), created: r.Bool(), quorum: r.Int(1, maxCopies)}
	for r.Left() > 0 && len(p.members) < maxCopies {
		p.members = append(p.members, r.String(1, math.MaxUint8))
	}
	if r.End() != nil || p.epoch == 0 || p.epoch > maxEpoch {
		return p, fmt.Errorf("%w: the log's entry at the cluster's service", ErrCorrupt)
	}
	return p, nil
}

// members returns the hosts with copies, sorted.
func members(h host.Host, cfg *Config) []string {
	m := slices.Clone(cfg.Backups)
	if !cfg.RemoteOnly {
		m = append(m, h.Name())
	}
	slices.Sort(m)
	return m
}

// reign is a primary's hold on the log.
type reign struct {
	promise
	at *entry.Entry
}

// begin promises a new epoch. If two calls are concurrent, one gets ErrFenced.
func begin(h host.Host, cfg *Config) (*reign, error) {
	key, fresh := "arcadia/"+cfg.Name, promise{epoch: 1, quorum: cfg.Quorum, members: members(h, cfg)}
	at, err := entry.Load(cfg.Coord, key)
	if errors.Is(err, coord.ErrNotFound) {
		at, err = entry.Create(cfg.Coord, key, fresh.encode())
		if errors.Is(err, coord.ErrExists) {
			err = fmt.Errorf("%w: %w", ErrFenced, err)
		}
		return &reign{fresh, at}, err
	}
	if err != nil {
		return nil, err
	}
	p, err := decodePromise(at.Value)
	switch {
	case err != nil:
		return nil, err
	case p.quorum != cfg.Quorum || !slices.Equal(p.members, fresh.members):
		return nil, fmt.Errorf("%w: the log has a quorum of %d among %q, not %d among %q", ErrConfig, p.quorum, p.members, cfg.Quorum, fresh.members)
	case p.epoch == maxEpoch:
		return nil, fmt.Errorf("%w: there is no epoch after %d", ErrCorrupt, p.epoch)
	}
	p.epoch++
	r := &reign{p, at}
	return r, r.set()
}

// confirm returns nil if no later epoch has been promised. The backups alone cannot exclude a later epoch: a restarted
// backup has forgotten its epoch.
func (r *reign) confirm() error {
	r.created = true
	return r.set()
}

func (r *reign) set() error {
	err := r.at.Set(r.encode())
	if errors.Is(err, entry.ErrTaken) {
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return err
}
