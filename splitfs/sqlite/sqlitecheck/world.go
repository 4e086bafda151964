package sqlitecheck

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/memdir"
	"github.com/verbatim-rdma/verbatim/splitfs/sqlite"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

const (
	more = 5 // transactions of a life after a crash
	last = 2 // the first life that only reads
	// maxLives bounds how often the application may find a peer down.
	maxLives = 8
)

// world is a simulated cluster with a bank, which runs again and again.
type world struct {
	cfg  Config
	name string // of the VFS
	dir  memdir.Dir
	w    *sim.World
	// made: the tables exist. done and tried count the transactions that were
	// committed and begun.
	made        bool
	done, tried int
	looked      bool   // the last life has verified the database
	changes     uint64 // of the directory
	lent        []lent
}

var worlds atomic.Int64

func newWorld(cfg Config) (*world, error) {
	fixRandomness()
	w := &world{cfg: cfg, name: fmt.Sprint("sqlitecheck", worlds.Add(1))}
	w.dir.Step = func() {
		w.changes++
		w.w.SetHistory(fingerprint.Print{}.Uint(w.changes)) // the directory has changed: a crash makes a difference here
		w.w.Point()
	}
	profile, err := faults.ProfileByName(cfg.Profile)
	if err != nil {
		return nil, err
	}
	c := sim.Config{Profile: profile, Reset: w.reset, MaxSteps: 10_000_000, MaxPieces: 3,
		Nodes: []sim.Node{{Name: "app", Main: w.main, Again: func(int, bool) bool { return !w.looked }}}}
	if c.Budget, err = w.surround(&c); err != nil {
		return nil, err
	}
	w.w, err = sim.New(c)
	return w, err
}

func (w *world) reset() {
	w.dir.Reset()
	w.changes = 0
	w.made, w.looked, w.done, w.tried, w.lent = false, false, 0, 0, w.lent[:0]
}

// alone is the lock of data that only one task uses.
type alone struct{}

func (alone) Lock()   {}
func (alone) Unlock() {}

// main is a life of the application.
func (w *world) main(h host.Host, life int) {
	if life > 0 {
		w.dir.Crash(h.Rand)
	}
	store, err := w.store(h)
	if err == nil {
		if w.cfg.Store != nil {
			store = w.cfg.Store(store)
		}
		err = w.use(store, h, life)
	}
	switch {
	case err == nil:
		w.looked = life >= last
	case errors.Is(err, ncl.ErrUnavailable) && life < maxLives:
		// A peer was down when a file was created, and a new file needs all peers. This
		// life ends here; the next life finds its state.
	default:
		w.w.Fail(damage(err))
	}
}

// use opens the file system and the database for a life.
func (w *world) use(store splitfs.Store, h host.Host, life int) error {
	fsys, err := splitfs.New(splitfs.Config{Dir: &w.dir, Store: store, Region: 16 << 10, MaxRegion: 1 << 20,
		NewMutex: func() sync.Locker { return alone{} }})
	if err != nil {
		return fmt.Errorf("the file system: %w", err)
	}
	v := sqlite.Register(w.name, fsys)
	err = w.session(v, h, life)
	v.Resume() // does not return if the machine has crashed
	return err
}

// damage turns SQLite's report of a damaged database into a LossError.
func damage(err error) error {
	if errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) {
		return lossf("the database is damaged: %v", err)
	}
	return err
}

// session opens the database, verifies its content and continues the workload.
func (w *world) session(v *sqlite.VFS, h host.Host, life int) error {
	b, err := openBank(v)
	if err == nil {
		w.made = true
		err = w.work(b, h, life)
	}
	return errors.Join(err, b.close())
}

func (w *world) work(b *bank, h host.Host, life int) error {
	// The stream of random bytes restarts with each connection; take it from
	// elsewhere in each life.
	if _, err := b.number(fmt.Sprintf("SELECT length(randomblob(%d))", 1+100*life+h.Rand(100))); err != nil {
		return err
	}
	n, err := b.verify()
	if err != nil {
		return err
	}
	if n < w.done || n > w.tried {
		return lossf("%d transactions were committed and %d begun, and the database has %d", w.done, w.tried, n)
	}
	w.done, w.tried = n, n // transactions that a recovery has found must not vanish either
	if life >= last {
		return nil
	}
	end := w.cfg.Transactions
	if life > 0 {
		end = n + more
	}
	if err := b.prepare(); err != nil {
		return err
	}
	for n++; n <= end; n++ {
		w.tried = n
		if err := b.move(n); err != nil {
			return fmt.Errorf("transaction %d: %w", n, err)
		}
		w.done = n
		w.land(h.Rand)
	}
	return nil
}
