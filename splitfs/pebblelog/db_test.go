package pebblelog_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog"
)

// place is the memory and the directory of a database.
type place struct {
	h   *pmemhost.Host
	dir vfs.FS
	log *arcadia.Log
}

func newPlace() *place { return &place{h: pmemhost.New(), dir: vfs.NewMem()} }

func (p *place) open(t *testing.T, size int) *pebblelog.DB {
	t.Helper()
	var err error
	if p.log, err = arcadia.Open(p.h, arcadia.Config{Name: "log", Size: size}); err != nil {
		t.Fatal(err)
	}
	db, err := pebblelog.Open("db", p.log, arcadia.Frequency(1), &pebble.Options{FS: p.dir, MemTableSize: 64 << 10, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// quiet discards Pebble's messages.
type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

func set(t *testing.T, db *pebblelog.DB, key, value string) uint64 {
	t.Helper()
	b := db.NewBatch()
	defer b.Close()
	if err := b.Set([]byte(key), []byte(value), nil); err != nil {
		t.Error(err)
	}
	lsn, err := db.Apply(b)
	if err != nil {
		t.Error(err)
	}
	return lsn
}

func get(db *pebblelog.DB, key string) string {
	v, closer, err := db.Reader().Get([]byte(key))
	if err != nil {
		return err.Error()
	}
	defer closer.Close()
	return string(v)
}

// A crash loses no forced batch, whatever operations it has.
func TestRecover(t *testing.T) {
	p := newPlace()
	db := p.open(t, 64<<10)
	set(t, db, "a", "1")
	set(t, db, "b", "2")
	b := db.NewBatch()
	if err := errors.Join(b.Delete([]byte("a"), nil), b.Merge([]byte("b"), []byte("3"), nil), b.DeleteRange([]byte("c"), []byte("d"), nil), b.SingleDelete([]byte("e"), nil)); err != nil {
		t.Fatal(err)
	}
	if lsn, err := db.Apply(b); lsn != 3 || err != nil {
		t.Fatal(lsn, err)
	}
	if lsn, err := db.Apply(db.NewBatch()); lsn != 4 || err != nil {
		t.Errorf("an empty batch: %d, %v", lsn, err)
	}
	if b.Count() != 4 {
		t.Errorf("the batch has %d operations now", b.Count())
	}
	p.h = p.h.Crash(func(int) bool { return false })
	if err := db.Close(); err != nil { // it flushes nothing
		t.Error(err)
	}
	db = p.open(t, 64<<10)
	if x := db.Recovery(); x != (pebblelog.Recovery{Log: 4, Replayed: 4}) {
		t.Errorf("%+v", x)
	}
	if a, b := get(db, "a"), get(db, "b"); a != pebble.ErrNotFound.Error() || b != "23" {
		t.Errorf("a is %q, b is %q", a, b)
	}
	if lsn := set(t, db, "a", "again"); lsn != 5 {
		t.Errorf("LSN %d", lsn)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A log far smaller than the data frees space whenever tables are written: on Pebble's initiative, or because the log
// is full.
func TestSpaceComesBack(t *testing.T) {
	for name, x := range map[string]struct{ log, value int }{"Pebble flushes": {1 << 20, 1000}, "the log is full": {24 << 10, 1000}} { //lint:ordered each is checked
		t.Run(name, func(t *testing.T) {
			p := newPlace()
			db := p.open(t, x.log)
			least := p.log.Free()
			for i := range 2000 {
				set(t, db, fmt.Sprintf("%04d", i), fmt.Sprintf("%0*d", x.value, i))
				least = min(least, p.log.Free())
			}
			if x.log > 500<<10 && least < x.log/2 {
				t.Errorf("only %d bytes of %d were free, with tables of 64 kB", least, x.log)
			}
			p.h = p.h.Crash(nil)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			db = p.open(t, x.log)
			for i := range 2000 {
				if v := get(db, fmt.Sprintf("%04d", i)); v != fmt.Sprintf("%0*d", x.value, i) {
					t.Fatalf("%d is %q", i, v)
				}
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Concurrent writers fill the log, and complete their records in any order.
func TestWriters(t *testing.T) {
	p := newPlace()
	db := p.open(t, 32<<10)
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			for i := range 300 {
				set(t, db, fmt.Sprintf("%d-%03d", k, i), fmt.Sprintf("%0500d", i))
			}
		})
	}
	all.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = p.open(t, 32<<10)
	for k := range 4 {
		for i := range 300 {
			if v := get(db, fmt.Sprintf("%d-%03d", k, i)); v != fmt.Sprintf("%0500d", i) {
				t.Fatalf("%d of %d is %q", i, k, v)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A batch larger than the log is refused, and later batches are not. A log with other records is refused.
func TestRefused(t *testing.T) {
	p := newPlace()
	db := p.open(t, 16<<10)
	b := db.NewBatch()
	if err := b.Set([]byte("large"), make([]byte, 20<<10), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Apply(b); !errors.Is(err, arcadia.ErrTooLarge) {
		t.Errorf("a batch larger than the log: %v", err)
	}
	set(t, db, "small", "1")
	if v := get(db, "large"); v != pebble.ErrNotFound.Error() {
		t.Error("the refused batch was applied")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	for _, record := range []string{"no batch", "\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x01\x01a\x01b", "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\xffa"} {
		log, err := arcadia.Open(p.h, arcadia.Config{Name: record, Size: 16 << 10})
		if err == nil {
			_, err = log.Append([]byte(record))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pebblelog.Open("other", log, arcadia.Frequency(1), &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}}); !errors.Is(err, pebblelog.ErrForeign) {
			t.Errorf("%q: %v", record, err)
		}
	}
}

// A writer that is slow to complete its record delays the cleanup of later records, and nothing else.
func TestASlowWriter(t *testing.T) {
	p := newPlace()
	log, err := arcadia.Open(p.h, arcadia.Config{Name: "log", Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	db, err := pebblelog.Open("db", log, arcadia.Frequency(100_000), &pebble.Options{FS: p.dir, MemTableSize: 64 << 10, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	slow, others, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.h.After(10, func() { close(slow); <-others })
	go func() {
		set(t, db, "slow", fmt.Sprintf("%0300d", 1))
		close(done)
	}()
	<-slow
	for i := range 400 {
		set(t, db, fmt.Sprintf("%03d", i), fmt.Sprintf("%0500d", i))
	}
	held := log.Free()
	close(others)
	<-done
	for i := range 400 {
		set(t, db, fmt.Sprintf("%03d", i), fmt.Sprintf("%0500d", i))
	}
	if free := log.Free(); held > 850<<10 || free < 900<<10 {
		t.Errorf("%d bytes were free while a record was incomplete, %d afterwards", held, free)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
