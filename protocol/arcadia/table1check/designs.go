package table1check

import (
	"bytes"
	"errors"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/flex"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/pmemlog"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/queryfresh"
)

// log is an open log of any design.
type log interface {
	// append adds a record of recordSize bytes; it is durable when append returns nil.
	append(data []byte) error
	// records returns the records of the log, in order.
	records() ([][]byte, error)
}

// design opens a kind of log.
type design struct {
	name string // in the names of scenarios
	// open recovers the log of a host, or creates it. again: no record has been forced, so an application
	// may recreate a log whose creation was cut off.
	open func(h host.Host, again bool) (log, error)
	// backup makes a host the backup, which primaries reach as spare. It returns a function that takes over with the
	// backup's copy. nil: the design has no replicas.
	backup func(h host.Host) (takeOver func() (log, error), err error)
	// copies are the hosts that keep the copies of the log, and run serve. The cluster's service has the epochs.
	copies []string
	serve  func(h host.Host) error
	// mayWait: a recovery may fail with arcadia.ErrUnavailable while the host of a copy is down, since that host may
	// stay down. Only power sets mayWait.
	mayWait bool
}

// replicated reports whether other hosts have copies of the log.
func (d *design) replicated() bool { return d.backup != nil || len(d.copies) > 0 }

// All designs have room for more records than the scenarios append. In FLEX the records fill more than the first
// cache line, which is written back together with the length.
const (
	recordSize = 16
	room       = 4 // in records
)

var (
	pmdk     = design{name: "pmemlog", open: openPMDK}
	flexible = design{name: "flex", open: openFLEX}
	flexFile = design{name: "flex-file", open: openFLEXFile}
	shipping = design{name: "queryfresh", open: openQueryFresh, backup: backupQueryFresh}
	local    = design{name: "arcadia-local", open: openArcadia}
	moving   = replicatedArcadia(true)
	staying  = replicatedArcadia(false)
)

// pmdkLog is a libpmemlog pool. It has no record boundaries, so the application reads chunks of recordSize.
type pmdkLog struct{ *pmemlog.Pool }

func openPMDK(h host.Host, again bool) (log, error) {
	const size = pmemlog.MinSize - 8 + room*recordSize
	p, err := pmemlog.Open(h, "log", size)
	if again && errors.Is(err, pmemlog.ErrCorrupt) {
		p, err = pmemlog.Create(h, "log", size)
	}
	if err != nil {
		return nil, err
	}
	return pmdkLog{p}, nil
}

func (l pmdkLog) append(data []byte) error { return l.Append(data) }

func (l pmdkLog) records() (out [][]byte, err error) {
	err = l.Walk(recordSize, func(data []byte) bool {
		out = append(out, bytes.Clone(data))
		return true
	})
	return out, err
}

// flexLog is a RocksDB log on FLEX.
type flexLog struct{ *flex.Log }

func openFLEX(h host.Host, _ bool) (log, error) {
	l, err := flex.Open(h, "log", flex.MinSize-8+room*(flex.HeaderSize+recordSize))
	if err != nil {
		return nil, err
	}
	return flexLog{l}, nil
}

func (l flexLog) append(data []byte) error { return l.Append(data) }

func (l flexLog) records() (out [][]byte, err error) {
	err = l.Each(func(data []byte) error {
		out = append(out, bytes.Clone(data))
		return nil
	})
	return out, err
}

// flexFileLog is a file of FLEX without records and checksums: these would hide a wrong order of data and
// length.
type flexFileLog struct{ *flex.File }

func openFLEXFile(h host.Host, _ bool) (log, error) {
	f, err := flex.OpenFile(h, "file", flex.MinSize-8+room*recordSize)
	if err != nil {
		return nil, err
	}
	return flexFileLog{f}, nil
}

func (l flexFileLog) append(data []byte) error { return l.Append(data) }

func (l flexFileLog) records() (out [][]byte, err error) {
	for at := 0; at+recordSize <= l.Len() && err == nil; at += recordSize {
		data := make([]byte, recordSize)
		err = l.ReadAt(data, at)
		out = append(out, data)
	}
	return out, err
}

// shippedLog is the log of Query Fresh. Each record is a group.
type shippedLog struct {
	*queryfresh.Log
	alone bool // no backup is within reach: the log accepts nothing
}

var shipped = queryfresh.Config{Name: "log", Size: room * (queryfresh.MinSize - 8 + recordSize), Timeout: patience}

func openQueryFresh(h host.Host, _ bool) (log, error) {
	cfg := shipped
	cfg.Backups = []string{spare}
	l, err := queryfresh.Open(h, cfg)
	alone := errors.Is(err, queryfresh.ErrBackup)
	if alone {
		l, err = queryfresh.Open(h, shipped)
	}
	if err != nil {
		return nil, err
	}
	return shippedLog{l, alone}, nil
}

func backupQueryFresh(h host.Host) (func() (log, error), error) {
	b, err := queryfresh.NewBackup(h, shipped)
	if err != nil {
		return nil, err
	}
	h.Go("backup", func() { h.Logf("the backup stopped: %v", b.Serve()) })
	return func() (log, error) {
		l, err := b.TakeOver()
		if err != nil {
			return nil, err
		}
		return shippedLog{l, false}, nil
	}, nil
}

func (l shippedLog) append(data []byte) error {
	if l.alone {
		return queryfresh.ErrBackup
	}
	if err := l.Append(data); err != nil {
		return err
	}
	return l.Commit()
}

func (l shippedLog) records() (out [][]byte, err error) {
	err = l.Each(func(data []byte) error {
		out = append(out, bytes.Clone(data))
		return nil
	})
	return out, err
}

// arcadiaLog is Arcadia in its local mode, without replicas.
type arcadiaLog struct{ *arcadia.Log }

func openArcadia(h host.Host, _ bool) (log, error) {
	l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: arcadia.MinSize - 32 + room*(24+recordSize)})
	if err != nil {
		return nil, err
	}
	return arcadiaLog{l}, nil
}

// replicatedArcadia is Arcadia with a copy on another host. If moves is set, this is the only copy, so that the
// application can move; otherwise the application's own host has one too. A force needs all copies.
func replicatedArcadia(moves bool) design {
	const size = arcadia.MinSize - 32 + 2*(24+recordSize)
	cfg := arcadia.Config{Name: "log", Size: size, Backups: []string{"copy"}, Quorum: 2, Timeout: patience}
	if moves {
		cfg.Quorum, cfg.RemoteOnly = 1, true
	}
	open := func(h host.Host, _ bool) (log, error) {
		cfg := cfg
		cfg.Coord = scenario.Dial(h)
		l, err := arcadia.Open(h, cfg)
		if err != nil {
			return nil, err
		}
		return arcadiaLog{l}, nil
	}
	return design{name: "arcadia", open: open, copies: cfg.Backups,
		serve: func(h host.Host) error { return arcadia.ServeBackup(h, arcadia.BackupConfig{Name: "log", Size: size}) },
	}
}

func (l arcadiaLog) append(data []byte) error {
	_, err := l.Append(data)
	return err
}

func (l arcadiaLog) records() (out [][]byte, err error) {
	err = l.Each(func(_ *arcadia.Record, data []byte) error {
		out = append(out, bytes.Clone(data))
		return nil
	})
	return out, err
}
