package splitfscheck

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
)

// errInjected is the error of a call that fails by choice of the run.
var errInjected = errors.New("failed, as the scenario has chosen")

// memory is the state that outlives the application: the directory, the store, and the memory of
// the checks. Its fingerprint is its history: the state in which a life began, and the calls of that
// life, in order. The history must determine everything else, including the variables of the file
// system. So code that changes any of it calls note afterwards, in the same step.
type memory struct {
	*scenario.Kit
	told  *scenario.Journal
	load  *workload
	dir   folder
	store store
	model model
	// next is the next step, underWay the one in progress.
	next     int
	underWay *change
	letter   int // of the data of the next write
	failures int // that the run may still choose
	mounting bool
	exposed  bool // a crash is possible
	right    right

	seen fingerprint.Print
	h    host.Host // of the latest life
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

// begins begins a life: its state is the durable state, whatever the history.
func (m *memory) begins() {
	m.model.held, m.dir.open = map[string]*file{}, 0
	m.seen = fingerprint.Print{}.Print(m.dir.print()).Print(m.store.print()).Print(m.model.print()).
		Int(m.next).Int(m.letter).Int(m.failures).Bool(m.exposed)
	if u := m.underWay; u != nil {
		m.seen = m.seen.Print(u.print())
	}
	m.History()
}

// note reports a call or an event to the search. Callers first make all changes.
func (m *memory) note(what string, more ...string) {
	m.seen = m.seen.String(what)
	for _, s := range more {
		m.seen = m.seen.String(s)
	}
	m.History()
}

// call calls the directory or the store. The host may crash after it, and other tasks may run. The call
// may fail by choice of the run, whether it was executed or not.
func (m *memory) call(by *bool, do func() error, what string, more ...string) error {
	m.logs(what, more...)
	way := m.fate(by, 2)
	err := m.ends(way, do)
	m.note(what, append(more, strconv.Itoa(way))...)
	return err
}

// logs adds a call to the trace.
func (m *memory) logs(what string, more ...string) {
	if m.exposed && m.underWay != nil {
		m.h.Logf("%s %q", what, more)
	}
}

// look executes a call that changes nothing, or makes it fail.
func (m *memory) look(by *bool, do func() error) error {
	way := m.fate(by, 1)
	if way > 0 {
		m.note("fails")
	}
	return m.ends(way, do)
}

// fate chooses how a call fails: one of n ways, from 1, or 0 for success.
func (m *memory) fate(by *bool, ways int) int {
	if !*by || m.failures == 0 || !m.exposed {
		return 0
	}
	way := m.h.Rand(ways + 1)
	if way > 0 {
		m.failures--
		m.h.Logf("fails: %d", way)
	}
	return way
}

// ends executes a call and returns its result. Way 1 fails without executing it, way 2 executes it and
// fails.
func (m *memory) ends(way int, do func() error) error {
	var err error
	if way != 1 {
		err = do()
	}
	if way > 0 {
		return errInjected
	}
	return err
}

// crash applies a crash to the directory and to the Records in progress.
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
