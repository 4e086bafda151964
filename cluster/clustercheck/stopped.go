package clustercheck

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// stoppedScenario has two lives of a machine at one address, which differ only in their
// sessions.
func stoppedScenario() *explore.Scenario {
	return &explore.Scenario{
		Name: "cluster/name-stopped", Profile: "strong", Faults: "suspect(peer.a)<=1", Sometimes: []string{nameConditions[metLost]},
		Doc: "A machine is believed dead and is restarted at its address, where the next life takes over the name; then the first life resumes. " +
			"Once everything is quiet, one of them has the name, and the other knows that it has lost the name.",
		Bounds: "two lives of one machine, which try for 300 ms and live for two heartbeats",
		Build: func(c *explore.Case) (sim.Config, error) {
			x := newNameWorld(c, metLost)
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{controller()}, Nodes: []sim.Node{
				{Name: "peer.a", Again: func(life int, crashed bool) bool { return crashed && life == 0 }, Main: func(h host.Host, _ int) { x.outlives(h, "a:1") }},
			}}, nil
		},
	}
}

// sessions remembers the last session that a machine opened.
type sessions struct {
	coord.Client
	mu   host.Mutex
	last coord.Session
}

func (s *sessions) NewSession() (coord.Session, error) {
	n, err := s.Client.NewSession()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = n
	return n, err
}

// outlives is lives for machines at one address.
func (x *nameWorld) outlives(h host.Host, addr string) {
	mu, lost := h.NewMutex(), false
	own := &sessions{Client: client(h), mu: mu}
	_, err := cluster.Hold(h, cluster.NameConfig{Coord: own, Name: "peer", Addr: addr, Wait: 300 * time.Millisecond, Lost: func(error) {
		mu.Lock()
		lost = true
		mu.Unlock()
	}})
	switch {
	case errors.Is(err, cluster.ErrTaken), errors.Is(err, coord.ErrSessionExpired): // by the other life, during the claim
		return
	case err != nil:
		x.c.Fail(err)
		return
	}
	h.Sleep(2*cluster.NameHeartbeat + time.Second)
	state := func() (has, knows bool) {
		now, _, err := own.Get("names/peer")
		if err != nil && !errors.Is(err, coord.ErrNotFound) {
			x.c.Fail(err)
		}
		mu.Lock()
		defer mu.Unlock()
		return string(now) == fmt.Sprintf("%s %d", addr, own.last), lost
	}
	has, knows := state()
	if !has && !knows { // the other life may have taken the name a moment ago
		h.Sleep(cluster.NameHeartbeat + time.Second)
		_, knows = state()
	}
	switch {
	case has && knows:
		x.fail("false-alarm", "the life that has the name was notified of its loss")
	case !has && !knows:
		x.fail("not-told", "a life no longer had the name, and was not notified within a heartbeat")
	case knows:
		x.met(metLost)
	}
	x.c.Report(fingerprint.Print{}.Bool(knows))
}
