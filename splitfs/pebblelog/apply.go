package pebblelog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble"

	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// Apply applies a batch, and makes it durable as the policy says. Others see it at once. It returns the LSN
// of the batch. After an error the batch may be applied or not; one that wraps arcadia.ErrFull or
// arcadia.ErrTooLarge says that it is not, and others can be. The batch is the caller's, to close.
func (d *DB) Apply(b *pebble.Batch) (lsn uint64, err error) {
	data := b.Repr()
	if b.Empty() {
		data = nil
	}
	whole := d.db.NewBatch() // with its LSN, which b is not to have
	defer whole.Close()
	if err := whole.Apply(b, nil); err != nil {
		return 0, fmt.Errorf("pebblelog: %w", err)
	}
	e, err := d.begin(whole, len(data))
	if err != nil {
		return 0, fmt.Errorf("pebblelog: %w", err)
	}
	if err = e.Copy(0, data); err == nil {
		err = e.Complete()
	}
	d.mu.Lock()
	if e.complete = err == nil; !e.complete {
		d.err = err // no record behind it can be forced
	}
	d.complete.Broadcast()
	d.mu.Unlock()
	if err == nil {
		err = d.policy.Force(e.Record)
	}
	if err != nil {
		return e.LSN(), fmt.Errorf("pebblelog: %w", err)
	}
	return e.LSN(), nil
}

// begin reserves a record and applies the batch, both before any other does.
func (d *DB) begin(b *pebble.Batch, size int) (*entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tables.Swap(false) {
		if err := d.cleanup(); err != nil {
			return nil, err
		}
	}
	r, err := d.reserve(size)
	if err != nil {
		return nil, err
	}
	e := &entry{Record: r}
	d.records = append(d.records, e)
	if err := d.apply(b, r.LSN()); err != nil {
		d.err = err
		return nil, err
	}
	return e, nil
}

// reserve reserves a record. A full log is emptied first.
func (d *DB) reserve(size int) (*arcadia.Record, error) {
	for {
		if d.err != nil {
			return nil, d.err
		}
		r, err := d.log.Reserve(size)
		if !errors.Is(err, arcadia.ErrFull) || len(d.records) == 0 {
			return r, err
		}
		if err := d.db.Flush(); err != nil {
			return nil, err
		}
		for len(d.records) > 0 && !d.records[0].complete && d.err == nil {
			d.complete.Wait() // its writer needs no lock before that
		}
		if err := d.cleanup(); err != nil {
			return nil, err
		}
	}
}

// cleanup gives back the space of the records whose batches are in tables: the first one last, which gives back that
// of all.
func (d *DB) cleanup() error {
	has, err := d.lsn(true)
	if err != nil {
		return err
	}
	n := 0
	for n < len(d.records) && d.records[n].LSN() <= has && d.records[n].complete {
		n++
	}
	for _, e := range slices.Backward(d.records[:n]) {
		if err := d.log.Cleanup(e.Record); err != nil {
			d.err = err
			return err
		}
	}
	d.records = d.records[n:]
	return nil
}
