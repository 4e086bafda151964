package pebblelog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble"

	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// Key holds the LSN of the last batch, in 8 bytes. Applications must not use it.
const Key = "\x00arcadia.lsn"

// ErrForeign: the log holds records that are not batches.
var ErrForeign = errors.New("pebblelog: the log does not belong to a database")

// DB is a database. It is safe for concurrent use.
type DB struct {
	db     *pebble.DB
	log    *arcadia.Log
	policy arcadia.Policy
	tables atomic.Bool // Pebble has written a table since the last cleanup

	recovery Recovery

	mu sync.Mutex // guards the fields below, and orders batches by LSN
	// records are the records of batches that may not be in tables, by LSN.
	records  []*entry
	complete sync.Cond // signaled when a record becomes complete
	err      error     // the error of every later batch
}

// Recovery is the result of the recovery in [Open].
type Recovery struct {
	Tables   uint64 // the LSN of the last batch in tables
	Log      uint64 // the last LSN of the log, before cleanups; later batches in tables lose their LSNs
	Replayed int    // batches that were only in the log
}

// Recovery returns the result of the recovery in Open.
func (d *DB) Recovery() Recovery { return d.recovery }

// entry is a record of the log.
type entry struct {
	*arcadia.Record
	complete bool
}

// Open opens or creates the database in a folder, and replays the batches that are only in the log. The log must have
// no other user. Open overrides the settings of Pebble's own log. The error wraps ErrForeign, or comes from Pebble or
// the log.
func Open(dir string, log *arcadia.Log, policy arcadia.Policy, settings *pebble.Options) (*DB, error) {
	d := &DB{log: log, policy: policy}
	d.complete.L = &d.mu
	settings = settings.Clone()
	settings.DisableWAL = true
	settings.AddEventListener(pebble.EventListener{FlushEnd: func(pebble.FlushInfo) { d.tables.Store(true) }})
	var err error
	if d.db, err = pebble.Open(dir, settings); err != nil {
		return nil, fmt.Errorf("pebblelog: %w", err)
	}
	if err := d.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("pebblelog: recover: %w", err), d.db.Close())
	}
	return d, nil
}

// recover replays the batches that the tables lack.
func (d *DB) recover() error {
	has, err := d.lsn(false)
	if err != nil {
		return err
	}
	last := d.log.Next() - 1
	d.recovery = Recovery{Tables: has, Log: last}
	err = d.log.Each(func(r *arcadia.Record, data []byte) error {
		d.records = append(d.records, &entry{r, true})
		if r.LSN() <= has {
			return nil
		}
		d.recovery.Replayed++
		b := d.db.NewBatch()
		defer b.Close()
		if err := restore(b, data); err != nil {
			return fmt.Errorf("%w: record %d: %w", ErrForeign, r.LSN(), err)
		}
		return d.apply(b, r.LSN())
	})
	if err != nil {
		return err
	}
	if has > last { // the log has lost batches that are in tables
		b := d.db.NewBatch()
		defer b.Close()
		if err := d.apply(b, last); err != nil {
			return err
		}
		if err := d.db.Flush(); err != nil {
			return err
		}
	}
	return d.cleanup()
}

// restore decodes the data of a record into b.
func restore(b *pebble.Batch, data []byte) error {
	if len(data) == 0 {
		return nil // an empty batch
	}
	if err := b.SetRepr(append([]byte(nil), data...)); err != nil {
		return err
	}
	n := uint32(0)
	for ops := b.Reader(); ; n++ {
		_, _, _, ok, err := ops.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	if n != b.Count() {
		return fmt.Errorf("a batch of %d operations, but its header says %d", n, b.Count())
	}
	return nil
}

// apply applies b together with its LSN.
func (d *DB) apply(b *pebble.Batch, lsn uint64) error {
	if err := b.Set([]byte(Key), binary.LittleEndian.AppendUint64(nil, lsn), nil); err != nil {
		return err
	}
	return d.db.Apply(b, pebble.NoSync)
}

// lsn returns the LSN of the last batch in the database, or in its tables alone.
func (d *DB) lsn(tables bool) (lsn uint64, err error) {
	it, err := d.db.NewIter(&pebble.IterOptions{OnlyReadGuaranteedDurable: tables, LowerBound: []byte(Key), UpperBound: []byte(Key + "\x00")})
	if err != nil {
		return 0, err
	}
	if it.First() {
		v, err := it.ValueAndErr()
		if err != nil || len(v) != 8 {
			return 0, errors.Join(fmt.Errorf("%w: the LSN in the database has %d bytes", ErrForeign, len(v)), err, it.Close())
		}
		lsn = binary.LittleEndian.Uint64(v)
	}
	return lsn, it.Close()
}

// Reader returns Pebble's reader of the database.
func (d *DB) Reader() pebble.Reader { return d.db }

// NewBatch returns an empty batch.
func (d *DB) NewBatch() *pebble.Batch { return d.db.NewBatch() }

// Close closes the database. Batches that were not forced may be lost, as in a crash.
func (d *DB) Close() error { return d.db.Close() }
