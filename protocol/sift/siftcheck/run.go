package siftcheck

import (
	"cmp"
	"errors"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// run is a CPU node.
type run struct {
	*world
	h         host.Host
	id        uint16
	client    *scenario.Client
	since     int  // what others do after this many rounds may replace this node
	storeless bool // it does not know of the store
	node      *sift.Node
	c         *sift.Coordinator
}

// start starts the node, and looks at the words for the first time.
func (r *run) start() bool {
	if !r.connected() {
		return false
	}
	_, err := r.node.Watch()
	return r.available(err)
}

// connected starts the node, and reports success.
func (r *run) connected() bool {
	cfg := sift.Config{Layout: r.load.layout(), Node: r.id, Memory: r.load.memory(), Period: period, Missed: cmp.Or(r.load.missed, 1),
		Lease: r.load.lease, BackOff: period, CallTimeout: verbs.Forever, QueueDepth: 16}
	if r.load.durable && !r.storeless {
		cfg.Durable = durableStore{r}
	}
	var err error
	r.node, err = sift.Start(r.h, cfg)
	return r.Check(err)
}

// available reports whether err is nil, and fails the run if it is not.
func (r *run) available(err error) bool {
	if err != nil && r.node != nil && len(r.node.Outsiders()) > 0 {
		r.Meet(sawOutsider)
	}
	if err != nil && !(r.load.beyond && !r.known.Joined && errors.Is(err, sift.ErrUnavailable)) {
		r.Fail(scenario.Failed(Unavailable, "no more than F memory nodes have failed: %w", err))
	}
	return err == nil
}

// vacancy watches until the coordinator is to be replaced.
func (r *run) vacancy() bool {
	for {
		vacant, err := r.node.Watch()
		if !r.available(err) {
			return false
		}
		if vacant {
			return true
		}
		r.h.Sleep(period)
	}
}

// campaign is one round of an election.
func (r *run) campaign() sift.Outcome {
	r.known.Began = append(r.known.Began, r.h.Name())
	r.since = len(r.known.Began)
	r.History()
	o, err := r.node.Campaign()
	if !r.Check(err) {
		return 0
	}
	switch o {
	case sift.Split:
		r.Meet(sawSplit)
	case sift.Lost:
		r.Meet(sawLost)
	case sift.Won:
		r.won()
	}
	return o
}

// won checks P1.
func (r *run) won() {
	term := r.node.Term()
	if other := r.known.Won[term]; other != "" {
		r.Failf(TwoCoordinators, "%s and %s have both won the election of term %d", other, r.h.Name(), term)
	}
	if r.known.Won == nil {
		r.known.Won = map[uint16]string{}
	}
	r.known.Won[term] = r.h.Name()
	r.History()
}

// lead makes the node, which has won, the coordinator. It reports whether to stand again:
// a memory node was lost, and another one was not complete yet. That can happen once.
func (r *run) lead() (again bool) {
	c, err := r.node.Lead()
	r.Look()
	switch {
	case err != nil && r.rivaled():
		r.Meet(sawRefused)
		return false
	case errors.Is(err, sift.ErrUnavailable):
		if r.load.coded && r.load.beyond {
			r.Meet(sawTooFew)
		}
		_, err = r.node.Watch()
		return r.available(err)
	case err != nil:
		r.Fail(err)
		return false
	}
	r.c = c
	found := c.Recovered()
	if found.Repaired > 0 {
		r.Meet(sawDiffer)
	}
	if found.Copied > 0 {
		r.Meet(sawCopied)
	}
	if r.known.Led++; r.known.Led > 1 {
		r.Meet(sawTakeover)
	}
	r.History()
	return false
}

// rivaled reports whether another node has stood for election since this one has.
func (r *run) rivaled() bool {
	return slices.ContainsFunc(r.known.Began[r.since:], func(name string) bool { return name != r.h.Name() })
}

// elected stands and leads. A memory node that fails meanwhile may make it stand again.
func (r *run) elected() bool {
	for range 2 {
		if r.campaign() != sift.Won {
			return false
		}
		if again := r.lead(); !again {
			return r.c != nil
		}
	}
	r.available(sift.ErrUnavailable)
	return false
}

// alone is elected, for a node that has no rival (P12). Requests that a dead
// coordinator left in flight may still make it follow again, or split a round, but not forever.
func (r *run) alone() bool {
	for range 3 {
		if r.elected() || r.rivaled() || r.load.beyond {
			return r.c != nil
		}
		if !r.vacancy() {
			return false
		}
	}
	r.Failf(Unavailable, "%s has no rival, and is not elected", r.h.Name())
	return false
}

// tolerates reports false, and fails the run unless the coordinator may have been replaced.
func (r *run) tolerates(err error) bool {
	r.Look()
	if r.rivaled() {
		if errors.Is(err, sift.ErrReplaced) {
			r.Meet(sawDeposed)
		}
		return false
	}
	return r.available(err)
}
