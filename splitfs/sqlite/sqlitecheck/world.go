package sqlitecheck

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
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
	peers  = 3
	budget = "crash(app)<=2, crash(peer*)<=1"
	more   = 5 // transactions of a life after a crash
	last   = 2 // the first life that only looks
	// maxLives bounds how often the application may find a peer down.
	maxLives = 8
)

// world is a simulated cluster with a bank, which runs again and again.
type world struct {
	cfg  Config
	name string // of the VFS
	dir  memdir.Dir
	w    *sim.World
	// made: the tables are there. done and tried count the transactions that were
	// committed and begun.
	made        bool
	done, tried int
	looked      bool   // the last life has ended well
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
	faulty, err := faults.ParseBudget(budget)
	if err != nil {
		return nil, err
	}
	c := sim.Config{Profile: profile, Budget: faulty, Reset: w.reset, MaxSteps: 10_000_000, MaxPieces: 3,
		Services: []sim.Service{scenario.Controller()},
		Nodes:    []sim.Node{{Name: "app", Main: w.main, Again: func(int, bool) bool { return !w.looked }}}}
	for _, p := range peerNames() {
		c.Nodes = append(c.Nodes, sim.Node{Name: p, Main: w.servePeer, Daemon: true})
	}
	w.w, err = sim.New(c)
	return w, err
}

func (w *world) reset() {
	w.dir.Reset()
	w.changes = 0
	w.made, w.looked, w.done, w.tried, w.lent = false, false, 0, 0, w.lent[:0]
}

func peerNames() []string {
	var names []string
	for i := range peers {
		names = append(names, fmt.Sprint("peer", i+1))
	}
	return names
}

func (w *world) servePeer(h host.Host, _ int) {
	if err := ncl.ServePeer(lender{h, &w.lent}, ncl.PeerConfig{Memory: 64 << 20}); err != nil {
		panic(err)
	}
}

// alone is the lock of what only one task uses.
type alone struct{}

func (alone) Lock()   {}
func (alone) Unlock() {}

// main is a life of the application.
func (w *world) main(h host.Host, life int) {
	if life > 0 {
		w.dir.Crash(h.Rand)
	}
	store := splitfs.NCL(h, ncl.Config{App: "bank", Peers: peerNames(), F: peers / 2, Coord: scenario.Dial(h)}, 0)
	if w.cfg.Store != nil {
		store = w.cfg.Store(store)
	}
	err := w.use(store, h, life)
	switch {
	case err == nil:
		w.looked = life >= last
	case errors.Is(err, ncl.ErrUnavailable) && life < maxLives:
		// A peer was down as a file was created, which takes all of them. This life
		// is over, and the next one finds what this one has left.
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
	v.Resume() // the machine has crashed
	return err
}

// damage makes a LossError of what SQLite says about a database that is damaged.
func damage(err error) error {
	if errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) {
		return lossf("the database is damaged: %v", err)
	}
	return err
}

// session opens the database, looks what is in it and goes on.
func (w *world) session(v *sqlite.VFS, h host.Host, life int) error {
	b, err := openBank(v)
	if err == nil {
		w.made = true
		err = w.work(b, h, life)
	}
	return errors.Join(err, b.close())
}

func (w *world) work(b *bank, h host.Host, life int) error {
	// The stream of random bytes begins anew with each connection; take it from
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
	w.done, w.tried = n, n // what one recovery has found must not vanish either
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

// plan is the policy of a run: where it crashes, and a generator for the rest.
type plan struct {
	w *sim.World
	// crash and again are the steps of the application's crashes, again counted
	// from the first; 0: none. peer crashes at step peerAt.
	crash, again int
	peer, peerAt int
	rng          *rand.Rand
	after        *rand.Rand // from the first crash on
	step, struck int
	second       bool  // the first life is over
	points       []int // the steps of the first life in which it can crash
}

// newPlan is the plan for a crash at a step, or without one at 0. The workload takes
// so many steps.
func newPlan(w *sim.World, seed uint64, at, steps int) *plan {
	p := &plan{w: w, crash: at, rng: rand.New(rand.NewPCG(seed, 0)), after: rand.New(rand.NewPCG(seed, uint64(at)+1))}
	if at > 0 {
		if p.after.IntN(2) == 0 {
			p.again = 1 + p.after.IntN(300)
		}
		if p.after.IntN(3) == 0 {
			p.peer, p.peerAt = 1+p.after.IntN(peers), 1+p.after.IntN(steps)
		}
	}
	return p
}

// Pick implements sim.Policy: what goes on by itself, but for the crashes planned.
func (p *plan) Pick(events []sim.Event) int {
	p.step++
	for i := range events {
		e := &events[i]
		switch node := e.Actor.Node(); {
		case e.Actor.Restart() && node > 0:
			return i // a peer is back at once, without what it had
		case !e.Fault:
		case p.peer > 0 && node == p.peer && p.step >= p.peerAt:
			p.peer = -p.peer
			return i
		case node == 0 && p.crash == 0:
			if life, _, ok := events[0].Actor.Task(); !p.second && ok && events[0].Actor.Node() == 0 {
				p.second = life > 0
			}
			if !p.second {
				p.points = append(p.points, p.step)
			}
		case node == 0 && p.dies():
			p.struck++
			p.rng = p.after
			return i
		}
	}
	return 0
}

// dies reports whether the application crashes now.
func (p *plan) dies() bool {
	return p.struck == 0 && p.step >= p.crash || p.struck == 1 && p.again > 0 && p.step >= p.crash+p.again
}

// Choose implements sim.Policy.
func (p *plan) Choose(_ sim.ChoiceKind, n int) int { return p.rng.IntN(n) }
