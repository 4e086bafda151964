package pebblecheck

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble"

	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog"
)

// Batch n of writer k sets a key of its own, and stores this key as the writer's last one.
func keyOf(k, n int) string { return fmt.Sprintf("w%02d-%06d", k, n) }

func lastOf(k int) string { return fmt.Sprintf("last-%02d", k) }

func valueOf(k, n int) string {
	x := uint32(k*1_000_003+n)*2654435761 + 12345
	return strings.Repeat(string(rune('a'+n%26)), int(x>>13)%300)
}

func put(db database, k, n int) (uint64, error) {
	b := db.NewBatch()
	defer b.Close()
	if err := errors.Join(b.Set([]byte(keyOf(k, n)), []byte(valueOf(k, n)), nil), b.Set([]byte(lastOf(k)), []byte(keyOf(k, n)), nil)); err != nil {
		return 0, err
	}
	return db.apply(b)
}

// trial is the recovery of another process after a crash.
type trial struct {
	c           *check
	m           *machine
	done, begun []progress // just before the copy, and just after it
}

// run opens the database, compares it, uses it, and crashes it again.
func (t *trial) run() error {
	has, err := t.look()
	if err != nil {
		return err
	}
	for i := range t.done {
		t.done[i], t.begun[i] = progress{done: has[i]}, progress{begun: has[i]}
	}
	// The batches found must survive the next crash, and so must those that are forced now.
	db, err := t.m.open(&t.c.cfg)
	if err != nil {
		return err
	}
	for n := range 2 * t.c.cfg.Frequency {
		t.begun[0].begun++
		if _, err := put(db, 0, has[0]+n); err != nil {
			return errors.Join(err, db.Close())
		}
		t.done[0].done++
	}
	next := t.m.crash(true, t.c.draw)
	if err := db.Close(); err != nil {
		return err
	}
	t.m = next
	if t.c.cfg.Frequency > 1 {
		t.done[0].done -= t.c.cfg.Frequency // the last ones may not have been forced
	}
	if _, err := t.look(); err != nil {
		return fmt.Errorf("crashed again: %w", err)
	}
	return nil
}

// look opens and checks the database, and returns its number of batches of each writer.
func (t *trial) look() ([]int, error) {
	db, err := t.m.open(&t.c.cfg)
	if err != nil {
		return nil, err
	}
	t.c.note(db.recovery())
	has := make([]int, len(t.done))
	for k := range has {
		if has[k], err = count(db.reader(), k); err != nil {
			break
		}
	}
	if err == nil {
		err = t.compare(db.recovery(), has)
	}
	return has, errors.Join(err, db.Close())
}

// count returns the number of batches of a writer. It checks that they are a prefix, each batch whole.
func count(r pebble.Reader, k int) (n int, err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: []byte(keyOf(k, 0)), UpperBound: []byte(keyOf(k, 999_999))})
	if err != nil {
		return 0, err
	}
	for it.First(); it.Valid() && err == nil; it.Next() {
		if string(it.Key()) != keyOf(k, n) || string(it.Value()) != valueOf(k, n) {
			err = fmt.Errorf("batch %d of writer %d is missing or damaged; the key at its place is %s", n, k, it.Key())
		}
		n++
	}
	if err := errors.Join(err, it.Close()); err != nil {
		return n, err
	}
	v, closer, err := r.Get([]byte(lastOf(k)))
	switch {
	case errors.Is(err, pebble.ErrNotFound) && n == 0:
		return 0, nil
	case err != nil:
		return n, fmt.Errorf("writer %d has %d batches, but no last key: %w", k, n, err)
	case n == 0 || string(v) != keyOf(k, n-1):
		err = fmt.Errorf("writer %d has %d batches, but its last key is %s", k, n, v)
	}
	return n, errors.Join(err, closer.Close())
}

// compare checks the batches found against the promise.
func (t *trial) compare(r pebblelog.Recovery, has []int) error {
	last, lost := max(r.Tables, r.Log), 0
	for k, n := range has {
		if n > t.begun[k].begun {
			return fmt.Errorf("writer %d began %d batches, but %d were found", k, t.begun[k].begun, n)
		}
		lost += max(0, t.done[k].done-n)
		for i, lsn := range t.done[k].lsn {
			if lsn > 0 && (lsn <= last) != (i < n) {
				return fmt.Errorf("the database holds the batches up to LSN %d, and %d of writer %d, but batch %d has LSN %d", last, n, k, i, lsn)
			}
			if forced := lsn%uint64(t.c.cfg.Frequency) == 0; forced && i >= n {
				return fmt.Errorf("batch %d of writer %d was forced, but is lost", i, k)
			}
		}
	}
	most := t.c.cfg.Frequency * t.c.cfg.Writers
	if t.c.cfg.Frequency == 1 {
		most = 0
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	t.c.r.MostLost = max(t.c.r.MostLost, lost)
	if lost > most {
		return fmt.Errorf("%d acknowledged batches are lost; at most %d may be", lost, most)
	}
	return nil
}
