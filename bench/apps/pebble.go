package apps

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblefs"
)

// pebbleDB is Pebble with its own settings. Without a sync a write is acknowledged
// before it is in the file.
type pebbleDB struct {
	db         *pebble.DB
	fs         vfs.FS
	fsys       *splitfs.FS // nil: there are no peers
	dir        string
	sync       *pebble.WriteOptions
	key, value []byte
}

// quiet suppresses Pebble's output.
type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(string, ...any)        {}
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf("pebble: "+f, args...)) }

func openPebble(dir string, m Mode, fsys *splitfs.FS) (database, error) {
	p := &pebbleDB{fs: vfs.Default, fsys: fsys, dir: vfs.Default.PathJoin(dir, "db"), sync: pebble.Sync}
	switch m {
	case Weak:
		p.sync = pebble.NoSync
	case NCL:
		p.fs, p.dir = pebblefs.New(fsys), "db"
	}
	var err error
	if p.db, err = pebble.Open(p.dir, &pebble.Options{FS: p.fs, Logger: quiet{}}); err != nil {
		if fsys != nil {
			fsys.Close()
		}
		return nil, err
	}
	return p, nil
}

func (p *pebbleDB) load(first, end int, seed uint64) error {
	b := p.db.NewBatch()
	for i := first; i < end; i++ {
		p.key, p.value = ycsb.Key(p.key, i), ycsb.Loaded(p.value, i, seed)
		if err := b.Set(p.key, p.value, nil); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	if err := b.Commit(p.sync); err != nil {
		return err
	}
	return p.db.Flush() // measurements begin with the records in tables
}

func (p *pebbleDB) do(op ycsb.Op, g *ycsb.Generator) error {
	p.key = ycsb.Key(p.key, op.Record)
	switch op.Kind {
	case ycsb.Scan:
		n, err := p.scan(p.key, op.Length, func(_, _ []byte) {})
		return found(n, err)
	case ycsb.Read, ycsb.ReadModifyWrite:
		if err := p.read(); err != nil || op.Kind == ycsb.Read {
			return err
		}
	}
	p.value = g.Value(p.value)
	return p.db.Set(p.key, p.value, p.sync)
}

func (p *pebbleDB) read() error {
	v, c, err := p.db.Get(p.key)
	if err != nil {
		return err
	}
	if len(v) != ycsb.ValueSize {
		err = fmt.Errorf("the value has %d bytes, not %d", len(v), ycsb.ValueSize)
	}
	return errors.Join(err, c.Close())
}

func (p *pebbleDB) scan(from []byte, n int, f func(key, value []byte)) (int, error) {
	it, err := p.db.NewIter(nil)
	if err != nil {
		return 0, err
	}
	seen := 0
	for ok := it.SeekGE(from); ok && seen < n; ok = it.Next() {
		f(it.Key(), it.Value())
		seen++
	}
	return seen, errors.Join(it.Error(), it.Close())
}

// close also deletes the database, including its files on the peers.
func (p *pebbleDB) close() error {
	err := errors.Join(p.db.Close(), p.fs.RemoveAll(p.dir))
	if p.fsys != nil {
		p.fsys.Close()
	}
	return err
}

// found returns an error if a scan that begins with a record found none.
func found(n int, err error) error {
	if err == nil && n == 0 {
		return errors.New("the scan found nothing")
	}
	return err
}
