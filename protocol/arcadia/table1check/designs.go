package table1check

import (
	"bytes"
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/flex"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/pmemlog"
)

// log is an open log of any design.
type log interface {
	// append adds a record of recordSize bytes; it is durable when append returns nil.
	append(data []byte) error
	// records are those that the log holds, in their order.
	records() ([][]byte, error)
}

// design is how a log is opened.
type design struct {
	name string // in the names of scenarios
	// open recovers the log of a host, or creates it. again: no record has been forced, so an application
	// may create anew what a failure has left half created.
	open func(h host.Host, again bool) (log, error)
}

// All designs have room for more records than the scenarios append. In FLEX they fill more than the cache line
// of the length, which is written back with it.
const (
	recordSize = 16
	room       = 4 // in records
)

var (
	pmdk     = design{"pmemlog", openPMDK}
	flexible = design{"flex", openFLEX}
	flexFile = design{"flex-file", openFLEXFile}
	local    = design{"arcadia-local", openArcadia}
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

// flexFileLog is a file of FLEX without records and checksums, which would hide that data and length come in
// the wrong order.
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

// arcadiaLog is Arcadia in its local mode, without replicas.
type arcadiaLog struct{ *arcadia.Log }

func openArcadia(h host.Host, _ bool) (log, error) {
	l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: arcadia.MinSize - 32 + room*(24+recordSize)})
	if err != nil {
		return nil, err
	}
	return arcadiaLog{l}, nil
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
