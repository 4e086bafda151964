package explore

import (
	"math"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// search is an exhaustive search by several workers that share one graph.
type search struct {
	mu      sync.Mutex
	wake    *sync.Cond
	g       *graph
	busy    int // workers that run
	idle    int // workers that wait
	runs    uint64
	choices choiceTally
	depth   int
	eager   float64 // eager states that the states stand for
	totals  totals  // of the parts before this one, and at its end of all
	limit   limits
	ranOut  bool
	failed  error
	bad     []move // the path to the violation
	spawned float64
	broken  error
}

// limits bound a search.
type limits struct {
	runs uint64
	end  time.Time
	stop func() bool
}

func (l *limits) hit(runs uint64) bool { return l.runs > 0 && runs >= l.runs || l.late() }

// late: the time is over, whatever is left to do.
func (l *limits) late() bool {
	return !l.end.IsZero() && !time.Now().Before(l.end) || l.stop != nil && l.stop()
}

// walker is the policy of one worker: it goes to a job's state, makes its step,
// and then goes on with the preferred event of each new state.
type walker struct {
	s     *search
	c     *Case
	path  []move // to the job's state, and the job's own step
	picks int
	here  stateID // the state before the step being made
	step  move    // the step being made, as far as it has got
	given []uint16
	inner int
	order []uint8
	root  bool
	// found are the jobs and choices of the current step, before they are handed
	// in under the lock.
	found   []job
	choices choiceTally
	failed  bool
}

// Pick implements sim.Policy.
func (w *walker) Pick(evs []sim.Event) int {
	i := w.picks
	w.picks++
	w.c.pulse.think()
	if i >= len(w.path) {
		next := w.arrive(evs)
		if next >= 0 {
			w.c.pulse.step(evs[next].Actor)
		}
		return next
	}
	m := w.path[i]
	w.c.pulse.step(m.actor)
	w.begin(m.actor, m.inner)
	for j := range evs {
		if evs[j].Actor == m.actor {
			return j
		}
	}
	panic(errDiverged)
}

// Next implements sim.KnowingPolicy: the steps to the job's state are known.
func (w *walker) Next() (sim.Actor, bool) {
	if w.picks >= len(w.path)-1 {
		return 0, false // the job's own step is looked at
	}
	m := w.path[w.picks]
	w.picks++
	w.c.pulse.step(m.actor)
	w.begin(m.actor, m.inner)
	return m.actor, true
}

func (w *walker) begin(a sim.Actor, given []uint16) {
	w.step, w.given, w.inner = move{actor: a}, given, 0
}

// Choose implements sim.Policy.
func (w *walker) Choose(k sim.ChoiceKind, n int) int {
	if w.inner < len(w.given) {
		v := w.given[w.inner]
		w.inner++
		if int(v) >= n {
			panic(errDiverged)
		}
		w.step.inner = append(w.step.inner, v)
		return int(v)
	}
	w.choices[k]++
	for i := n - 1; i > 0; i-- {
		alt := append(append(make([]uint16, 0, len(w.step.inner)+1), w.step.inner...), uint16(i))
		w.found = append(w.found, job{at: w.here, actor: w.step.actor, inner: alt})
	}
	w.step.inner = append(w.step.inner, 0)
	return 0
}

// arrive enters the state that the last step led to into the graph. It returns
// the event to go on with, or -1 if the state was known.
func (w *walker) arrive(evs []sim.Event) int {
	fp := w.c.w.Fingerprint(w.order).A
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.enter(fp, evs) {
		return -1
	}
	late := w.picks%lookAtLimit == 0 && s.limit.late()
	s.g.try(w.here, 0, !late)
	for i := 1; s.g.full && i < min(len(evs), 64); i++ {
		s.g.try(w.here, i, false)
	}
	if late {
		s.ranOut = true
		return -1 // what it would have gone on with is a job now
	}
	w.begin(evs[0].Actor, nil)
	return 0
}

// lookAtLimit is after how many steps a run looks whether the time is over: one that
// does not come to its end must not keep the search from its own.
const lookAtLimit = 64

// enter adds the edge, and the state if it is new; w.here moves on to it.
func (w *walker) enter(fp uint64, evs []sim.Event) bool {
	g := w.s.g
	w.handIn()
	id, known := g.byPrint[fp]
	if !known {
		from := w.here
		if w.root {
			from = -1
		}
		id = g.add(w.c.w, fp, w.order, from, w.step, evs)
		w.s.depth = max(w.s.depth, int(g.states[id].depth))
		w.s.eager += w.c.w.EagerStates()
	}
	if !w.root {
		e := edge{from: w.here, actor: w.step.actor, foot: g.keep(w.c.w.Footprint())}
		if known {
			e.rename = g.between(g.orders[g.states[id].order], w.order)
		}
		g.link(id, e)
	}
	w.root = false
	w.here = id
	return !known
}

// handIn gives what the step found to the search; the caller has the lock.
func (w *walker) handIn() {
	w.s.g.jobs = append(w.s.g.jobs, w.found...)
	w.s.choices.add(&w.choices)
	w.found, w.choices = w.found[:0], choiceTally{}
}

// run makes one run, for job j or from the initial state.
func (w *walker) run(j job, path []move) {
	w.path, w.picks, w.here, w.root = path, 0, j.at, j.at < 0
	end, err := w.c.run(w)
	w.c.endRunIf(end == sim.Finished)
	s := w.s
	if end == sim.Finished || end == sim.Abandoned {
		fp := w.c.w.Fingerprint(w.order).A
		evs := w.c.w.Events()
		s.mu.Lock()
		before := w.here
		if w.enter(fp, evs) {
			s.g.leave(w.c.w, w.here, evs)
		}
		if end == sim.Abandoned && before >= 0 {
			s.g.tryAll(before) // as if it had not looked: nobody may be left out
		}
		s.mu.Unlock()
	}
	if err != nil {
		w.failed = true
		s.mu.Lock()
		if s.failed == nil {
			s.failed = err
			s.bad = append(s.g.pathTo(w.here, nil), w.step)
			if w.root {
				s.bad = []move{w.step}
			}
		}
		s.mu.Unlock()
	}
}

// leave gives a final state the future of what it left undone.
func (g *graph) leave(w *sim.World, id stateID, evs []sim.Event) {
	var buf []sim.Access
	for i := range evs {
		buf = w.Pending(&evs[i], buf[:0])
		for _, a := range buf {
			setBit(&g.states[id].future, g.useOf(use{evs[i].Actor, a}))
		}
	}
	g.tell(id)
}

// pathTo appends the steps from the initial state to a state.
func (g *graph) pathTo(id stateID, out []move) []move {
	for ; id >= 0 && g.states[id].parent >= 0; id = g.states[id].parent {
		out = append(out, g.states[id].via)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// batch is how many jobs a worker takes at once.
const batch = 16

// task is a job with the way to it.
type task struct {
	j    job
	path []move
}

// work takes jobs until there are none, a limit is reached or a run failed.
func (s *search) work(c *Case) {
	w := &walker{s: s, c: c, order: make([]uint8, len(s.g.sym))}
	tasks := make([]task, batch)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.g.jobs) == 0 && s.busy > 0 && !s.over() {
			s.idle++
			s.wake.Wait()
			s.idle--
		}
		s.ranOut = s.ranOut || len(s.g.jobs) > 0 && s.limit.hit(s.runs)
		if s.over() || len(s.g.jobs) == 0 {
			s.wake.Broadcast()
			return
		}
		n := s.take(tasks)
		before := len(s.g.jobs)
		s.busy++
		s.mu.Unlock()
		err := guard(func() { w.runAll(tasks[:n]) })
		s.mu.Lock()
		w.handIn()
		s.busy--
		if err != nil {
			s.broken = err
		}
		s.spawned += (float64(len(s.g.jobs)-before)/float64(n) - s.spawned) / (4096 / batch)
		if s.idle > 0 {
			s.wake.Broadcast()
		}
	}
}

// take moves the newest jobs into tasks, and leaves some for the other workers.
func (s *search) take(tasks []task) int {
	n := min(len(tasks), (len(s.g.jobs)+1)/2)
	if s.limit.runs > 0 {
		n = min(n, int(s.limit.runs-s.runs))
	}
	for i := range n {
		j := s.g.jobs[len(s.g.jobs)-1]
		s.g.jobs = s.g.jobs[:len(s.g.jobs)-1]
		path := tasks[i].path[:0]
		if j.at >= 0 {
			path = append(s.g.pathTo(j.at, path), move{j.actor, j.inner})
		}
		tasks[i] = task{j, path}
	}
	s.runs += uint64(n)
	return n
}

// runAll makes the runs of a batch, and gives back what it has no time for; what is left
// after a failure does not matter.
func (w *walker) runAll(tasks []task) {
	for i := range tasks {
		if i > 0 && w.s.limit.late() {
			w.s.giveBack(tasks[i:])
			return
		}
		w.run(tasks[i].j, tasks[i].path)
		if w.failed {
			return
		}
	}
}

func (s *search) giveBack(tasks []task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range tasks {
		s.g.jobs = append(s.g.jobs, tasks[i].j)
	}
	s.runs -= uint64(len(tasks))
	s.ranOut = true
}

func (s *search) over() bool { return s.failed != nil || s.ranOut || s.broken != nil }

// remaining estimates how many runs are left, as a branching process: each run
// makes m new jobs on average, so n jobs make n/(1-m) runs. It is negative while
// the search still grows.
func (s *search) remaining() float64 {
	if s.spawned >= 1 {
		return -1
	}
	return float64(len(s.g.jobs)+s.busy) / math.Max(1-s.spawned, 1e-3)
}

// guard turns a divergence into an error.
func guard(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			if r != errDiverged {
				panic(r)
			}
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// exhaust runs the workers over s until it ends.
func (s *search) exhaust(cases []*Case) {
	var wg sync.WaitGroup
	for _, c := range cases {
		wg.Go(func() { s.work(c) })
	}
	wg.Wait()
}
