package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Names with only 8 bits for a life or 6 for a host used to give two actors one name.
func TestNamesKeepWhatTheyAreMadeOf(t *testing.T) {
	const host, life, task = maxHosts - 1, maxLives - 1, maxOrd - 1
	x := actor(actTimer, life, host, task)
	if x.kind() != actTimer || x.a() != host || x.life() != life || x.b() != task {
		t.Errorf("an actor became kind %d, host %d, life %d, task %d", x.kind(), x.a(), x.life(), x.b())
	}
	o := object(objChecks, host, 1+ofLife(life, task))
	if o.kind() != objChecks || o.a() != host || o.b() != 1+ofLife(life, task) {
		t.Errorf("an object became kind %d, host %d, number %d", o.kind(), o.a(), o.b())
	}
	perm := make([]uint8, maxHosts)
	for i := range perm {
		perm[i] = uint8(maxHosts - 1 - i)
	}
	if got, want := faultActor(int(faults.Cut), 0, 200).Rename(perm), faultActor(int(faults.Cut), 54, 254); got != want {
		t.Errorf("a cut between hosts 0 and 200 was renamed to %d and %d", got.a(), got.b()&^twoHosts)
	}
}

type firstChoice struct{}

func (firstChoice) Pick([]Event) int           { return 0 }
func (firstChoice) Choose(ChoiceKind, int) int { return 0 }

func strongWorld(t *testing.T, nodes ...Node) *World {
	t.Helper()
	p, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Config{Nodes: nodes, Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// Names with fewer bits gave life 256 the endpoint and the tasks of life 0.
func TestLivesAreToldApart(t *testing.T) {
	const lives = 300
	ends, tasks := map[verbs.Endpoint]int{}, map[Actor]int{}
	var w *World
	w = strongWorld(t, Node{Name: "a", Again: func(life int, _ bool) bool { return life < lives-1 }, Main: func(h host.Host, life int) {
		pd, _ := h.Device().AllocPD()
		cq, _ := h.Device().CreateCQ(4, nil)
		q, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq})
		ends[q.Endpoint()]++
		tasks[w.cur.actor()]++
	}})
	if end, err := w.Run(firstChoice{}); end != Finished || err != nil {
		t.Fatal(end, err)
	}
	if len(ends) != lives || len(tasks) != lives {
		t.Errorf("%d lives had %d endpoints and %d first tasks", lives, len(ends), len(tasks))
	}
}

// An object for which no name is left ends the run, and no two objects share a name.
func TestWhatIsTooMuchEndsTheRun(t *testing.T) {
	var w *World
	w = strongWorld(t, Node{Name: "a", Main: func(host.Host, int) { w.bound("tasks of a host", maxOrd, maxOrd) }})
	_, err := w.Run(firstChoice{})
	var limit *LimitError
	if !errors.Is(err, ErrLimit) || !errors.As(err, &limit) || limit.Max != maxOrd || !strings.Contains(err.Error(), "tasks of a host") {
		t.Error(err)
	}
}

// A Gather of more than 16 calls used to panic.
func TestGatherOfManyCalls(t *testing.T) {
	const calls = 40
	answers := 0
	w := strongWorld(t, Node{Name: "a", Main: func(h host.Host, _ int) {
		for _, a := range h.Gather(make([]host.Call, calls), verbs.Forever).Wait(calls) {
			answers += boolInt(errors.Is(a.Err, host.ErrUnreachable))
		}
	}})
	if end, err := w.Run(firstChoice{}); end != Finished || err != nil || answers != calls {
		t.Errorf("%v %v: %d answers", end, err, answers)
	}
}

func TestGatherOfNoCalls(t *testing.T) {
	w := strongWorld(t, Node{Name: "a", Main: func(h host.Host, _ int) { h.Gather(nil, verbs.Forever).Wait(0) }})
	if end, err := w.Run(firstChoice{}); end != Finished || err != nil {
		t.Error(end, err)
	}
}

// If there are too many sets of answers to list, the run fails; none is left out.
func TestTooManySetsOfAnswersEndTheRun(t *testing.T) {
	const calls = 20
	w := strongWorld(t, Node{Name: "a", Main: func(h host.Host, _ int) {
		l, _ := h.Listen("s")
		h.Go("serve", func() {
			for {
				r, _ := l.Accept(verbs.Forever)
				r.Reply(nil)
			}
		})
		var all []host.Call
		for range calls {
			all = append(all, host.Call{To: "a", Service: "s"})
		}
		h.Gather(all, verbs.Forever).Wait(calls / 2)
	}})
	_, err := w.Run(lastTask{})
	if !errors.Is(err, ErrLimit) || !strings.Contains(fmt.Sprint(err), "sets of answers") {
		t.Error(err)
	}
}

// lastTask prefers the tasks that were started last.
type lastTask struct{ firstChoice }

func (lastTask) Pick(evs []Event) int {
	best := 0
	for i := range evs {
		if evs[i].Actor.b() > evs[best].Actor.b() {
			best = i
		}
	}
	return best
}

func TestMoreHostsThanNamesAreRefused(t *testing.T) {
	nodes := make([]Node, maxHosts+1)
	for i := range nodes {
		nodes[i] = Node{Name: fmt.Sprint("h", i), Main: func(host.Host, int) {}}
	}
	c := Config{Nodes: nodes, Profile: strongWorld(t, nodes[0]).cfg.Profile}
	if _, err := New(c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "1 to 255") {
		t.Error(err)
	}
	c.Nodes = nodes[:maxHosts]
	if _, err := New(c); err != nil {
		t.Error(err)
	}
	for i := range nodes {
		nodes[i].Symmetric = true
	}
	if _, err := New(c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "symmetric") {
		t.Error(err)
	}
}
