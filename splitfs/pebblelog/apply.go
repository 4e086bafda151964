package pebblelog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble"

	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// Apply applies a batch and makes it durable according to the policy. Readers see it at once. Apply returns the
// LSN of the batch. After an error the batch may or may not be applied; after arcadia.ErrFull and
// arcadia.ErrTooLarge it is not, and other batches can be. The caller closes the batch.
func (d *DB) Apply(b *pebble.Batch) (lsn uint64, err error) {
	data := b.Repr()
	if b.Empty() {
		data = nil
	}
	whole := d.db.NewBatch() // b and its LSN; b itself does not change
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
		d.err = err // no later record can be forced
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

// begin reserves a record and applies the batch under one lock, so batches are applied in the order of their LSNs.
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

// reserve reserves a record. If the log is full, it first flushes Pebble's tables and cleans up.
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
			d.complete.Wait() // its writer completes it without the lock
		}
		if err := d.cleanup(); err != nil {
			return nil, err
		}
	}
}

// cleanup cleans up the records whose batches are in tables. The first one is cleaned up last: it frees the space of
// all.
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
