package pebblecheck

import (
	"fmt"
	"io/fs"
	"sync"

	"github.com/cockroachdb/pebble"

	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/memdir"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblefs"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog"
	"github.com/verbatim-rdma/verbatim/splitfs/recordstore"
)

const (
	memTable = 32 << 10 // small, so that tables are written often
	logSize  = 96 << 10
	// fileSize exceeds the size of all memtables: Pebble does not survive a full log.
	fileSize = 256 << 10
)

// machine is the memory and the directory of a database.
type machine struct {
	h   *pmemhost.Host
	mu  sync.Mutex // guards dir
	dir *memdir.Dir
}

func newMachine() *machine { return &machine{h: pmemhost.New(), dir: new(memdir.Dir)} }

// crash returns the machine as the next process finds it, after a failure of the process or of the power. draw
// decides what a power failure loses.
func (m *machine) crash(power bool, draw func(n int) int) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	var evicted func(int) bool
	if power {
		evicted = func(int) bool { return draw(2) == 0 }
	}
	next := &machine{h: m.h.Crash(evicted), dir: m.dir.Clone()}
	if power {
		next.dir.Crash(draw)
	}
	return next
}

// database is Pebble on a machine.
type database interface {
	// apply returns the LSN of the batch; 0: batches have none.
	apply(b *pebble.Batch) (uint64, error)
	NewBatch() *pebble.Batch
	reader() pebble.Reader
	recovery() pebblelog.Recovery
	Close() error
}

func (m *machine) open(cfg *Config) (database, error) {
	size := logSize
	if cfg.Way == File {
		size = fileSize
	}
	log, err := arcadia.Open(m.h, arcadia.Config{Name: "log", Size: size})
	if err != nil {
		return nil, err
	}
	options := &pebble.Options{MemTableSize: memTable, MemTableStopWritesThreshold: 4, Logger: quiet{}}
	if cfg.Way == File {
		store, err := recordstore.Open(m.h, log)
		if err != nil {
			return nil, err
		}
		if options.FS, err = m.files(store, splitfs.Presets["pebble"]); err != nil {
			return nil, err
		}
		db, err := pebble.Open("db", options)
		return fileDB{db}, err
	}
	if options.FS, err = m.files(nothing{}, nil); err != nil {
		return nil, err
	}
	db, err := pebblelog.Open("db", log, arcadia.Frequency(cfg.Frequency), options)
	return recordDB{db}, err
}

func (m *machine) files(store splitfs.Store, patterns []string) (_ pebbleFS, err error) {
	fsys, err := splitfs.New(splitfs.Config{Dir: &lockedDir{m}, Store: store, Patterns: patterns, Region: 16 << 10, MaxRegion: 64 << 10})
	if err != nil {
		return nil, err
	}
	return pebblefs.New(fsys), nil
}

type fileDB struct{ *pebble.DB }

func (d fileDB) apply(b *pebble.Batch) (uint64, error) { return 0, d.Apply(b, pebble.Sync) }
func (d fileDB) reader() pebble.Reader                 { return d.DB }
func (d fileDB) recovery() pebblelog.Recovery          { return pebblelog.Recovery{} } // Pebble does not report it

type recordDB struct{ *pebblelog.DB }

func (d recordDB) apply(b *pebble.Batch) (uint64, error) { return d.Apply(b) }
func (d recordDB) reader() pebble.Reader                 { return d.Reader() }
func (d recordDB) recovery() pebblelog.Recovery          { return d.Recovery() }

// nothing is the store of a file system that keeps every file in its directory.
type nothing struct{}

func (nothing) Create(name string, _ int) (splitfs.Object, error) {
	return nil, fmt.Errorf("object %s: %w", name, fs.ErrInvalid)
}
func (nothing) Recover(string) (splitfs.Object, error) { return nil, fs.ErrNotExist }

// quiet discards Pebble's messages.
type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(string, ...any)        {}
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf("pebble: "+f, args...)) }
