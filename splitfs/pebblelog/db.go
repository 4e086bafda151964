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

// Key is where the database has the LSN of its last batch, in 8 bytes. Applications leave it alone.
const Key = "\x00arcadia.lsn"

// ErrForeign: the log holds records that are no batches.
var ErrForeign = errors.New("pebblelog: the log is not of a database")

// DB is a database. Several goroutines may use it.
type DB struct {
	db     *pebble.DB
	log    *arcadia.Log
	policy arcadia.Policy
	tables atomic.Bool // Pebble has written a table, and nothing was cleaned up since

	recovery Recovery

	mu sync.Mutex // of all below, and so that batches are applied in the order of their LSNs
	// records are those of batches that may not be in tables, in order.
	records  []*entry
	complete sync.Cond // one more is
	err      error     // what has made the database useless
}

// Recovery is what [Open] found.
type Recovery struct {
	Tables   uint64 // the LSN of the last batch in tables
	Log      uint64 // the LSN of the last batch that the log has or had; what tables have beyond it keeps no LSN
	Replayed int    // how many batches were in the log only
}

// Recovery says what Open found.
func (d *DB) Recovery() Recovery { return d.recovery }

// entry is a record of the log.
type entry struct {
	*arcadia.Record
	complete bool
}

// Open opens the database in a folder, or creates it, and recovers it with what the log has. Nobody else may use
// the log. The settings are changed in what concerns logs. An error wraps ErrForeign, or is Pebble's or the log's.
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

// recover applies the batches that the tables do not have.
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
	if has > last { // the log has lost what the tables have
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

// restore makes b what its record says.
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
		return fmt.Errorf("a batch of %d, and not of %d", n, b.Count())
	}
	return nil
}

// apply applies b, whose LSN this is.
func (d *DB) apply(b *pebble.Batch, lsn uint64) error {
	if err := b.Set([]byte(Key), binary.LittleEndian.AppendUint64(nil, lsn), nil); err != nil {
		return err
	}
	return d.db.Apply(b, pebble.NoSync)
}

// lsn is that of the last batch in the database, or in its tables.
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

// Reader reads the database as Pebble does.
func (d *DB) Reader() pebble.Reader { return d.db }

// NewBatch returns an empty batch.
func (d *DB) NewBatch() *pebble.Batch { return d.db.NewBatch() }

// Close closes the database. Whatever is not forced may be lost, as in a crash.
func (d *DB) Close() error { return d.db.Close() }
