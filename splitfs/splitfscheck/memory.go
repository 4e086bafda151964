package splitfscheck

import (
	"errors"
	"maps"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
)

// errInjected is the error of a call that fails because the run chose so.
var errInjected = errors.New("failed, as the scenario wants it")

// memory is what outlives the application: the directory, the store, and what the checks
// remember. The search is told of it by what has made it: the state in which a life began,
// and after that each call that the life made, in their order. From these all else follows,
// the variables of the file system among them.
type memory struct {
	*scenario.Kit
	told  *scenario.Journal
	load  *workload
	dir   folder
	store store
	model model
	// next is the step that comes next, under way the one that has begun and not ended.
	next     int
	underWay *change
	letter   int // of the data of the next write
	failures int // that the run may still choose
	mounting bool
	exposed  bool // to crashes
	right    right

	seen fingerprint.Print
	h    host.Host // on which the latest life runs
}

func newMemory(k *scenario.Kit, load *workload) *memory {
	m := &memory{Kit: k, told: k.Journal(), load: load}
	m.dir.m, m.store.m = m, m
	k.Remember(m.reset, func() fingerprint.Print { return m.seen })
	return m
}

func (m *memory) reset() {
	m.dir.reset()
	m.store.reset()
	m.model = newModel()
	m.next, m.underWay, m.letter, m.failures, m.mounting = 0, nil, 0, m.load.failures, false
	m.exposed, m.right = m.load.calm == 0, right{}
	m.seen = fingerprint.Print{}
}

// begins a life: what it can find is the state, however it came about.
func (m *memory) begins() {
	m.model.held, m.dir.open = map[string]*file{}, 0
	m.seen = fingerprint.Print{}.Print(m.dir.print()).Print(m.store.print()).Print(m.model.print()).
		Int(m.next).Int(m.letter).Int(m.failures).Bool(m.exposed)
	if u := m.underWay; u != nil {
		m.seen = m.seen.Print(u.print())
	}
	m.History()
}

// note tells the search that something was called or has happened.
func (m *memory) note(what string, more ...string) {
	m.seen = m.seen.String(what)
	for _, s := range more {
		m.seen = m.seen.String(s)
	}
	m.History()
}

// point is a place for a crash.
func (m *memory) point(what string, more ...string) {
	m.note(what, more...)
	m.Point()
}

// call makes a call of the directory or the store, before which a crash may come, and which
// may fail if the run so chooses, carried out or not.
func (m *memory) call(by *bool, do func() error, what string, more ...string) error {
	m.point(what, more...)
	if m.exposed && m.underWay != nil {
		m.h.Logf("%s %q", what, more)
	}
	return m.mayFail(by, 2, do)
}

// mayFail fails in one of so many ways, or does what it is given.
func (m *memory) mayFail(by *bool, ways int, do func() error) error {
	if !*by || m.failures == 0 || !m.exposed {
		return do()
	}
	way := m.h.Rand(ways + 1)
	if way == 0 {
		return do()
	}
	m.failures--
	m.note("fails")
	m.h.Logf("fails: %d", way)
	if way == 2 {
		_ = do()
	}
	return errInjected
}

// crash is what a crash leaves of the directory and of the Records under way.
func (m *memory) crash() {
	m.dir.mem.Crash(m.h.Rand)
	for _, name := range slices.Sorted(maps.Keys(m.store.objects)) {
		m.store.objects[name].settle(m)
	}
	m.store.open = map[string]*handle{}
	m.store.handles = 0
	m.dir.unsynced, m.dir.withdrawn = map[string]bool{}, map[string]bool{}
	m.begins()
}
