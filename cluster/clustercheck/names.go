package clustercheck

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The conditions of the scenarios of names.
const (
	metLost = iota
	metAgain
	metWrongAddress
	metNoName
)

var nameConditions = []string{
	metLost:         "a machine learned that another machine has its name",
	metAgain:        "a machine whose session had expired got its name again",
	metWrongAddress: "for a while a name had the address of a machine that had lost it",
	metNoName:       "a machine found its name taken at the start",
}

// nameScenarios are about machines with the same name.
func nameScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		{
			Name: "cluster/names", Profile: "strong", Faults: "none", Sometimes: nameConditions,
			Doc: "Two machines at different addresses compete for one name. The controller expires a session or restarts empty, at any moment. " +
				"Once everything is quiet, one machine has the name and can be found under it, and every other machine knows that it has lost the name.",
			Bounds: "two machines that try for 300 ms and live for two heartbeats; one session that expires, or one restart of the controller without its data",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newNameWorld(c)
				return x.config(sim.Node{Name: "peer.a", Main: func(h host.Host, _ int) { x.lives(h, "a:1") }}), nil
			},
		},
		{
			Name: "cluster/name-cut", Profile: "strong", Faults: "cut(peer.a,coord)<=1", Sometimes: []string{nameConditions[metLost], nameConditions[metAgain], nameConditions[metNoName]},
			Doc: "Like cluster/names, but one machine is cut off from the controller for a while, at any moment: an answer may be lost, and a session that it tried to close may stay open.",
			Bounds: "two machines that try for 300 ms and live for three heartbeats; a link that is cut and heals after the first heartbeat; one session that expires, or one restart of the controller " +
				"without its data",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newNameWorld(c, metLost, metAgain, metNoName)
				x.again, x.cut = false, true
				return x.config(sim.Node{Name: "peer.a", Main: func(h host.Host, _ int) { x.lives(h, "a:1") }}), nil
			},
		},
		{
			Name: "cluster/name-again", Profile: "strong", Faults: "none", Sometimes: []string{nameConditions[metLost], nameConditions[metNoName]},
			Doc: "A machine dies, restarts at its address and closes the session of its previous life, while another machine wants its name and the controller " +
				"expires that session too. No machine loses a name without being notified.",
			Bounds: "a machine that dies once it has its name, and restarts for two heartbeats; another machine; one session that expires",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newNameWorld(c, metLost, metNoName)
				return x.config(sim.Node{Name: "peer.a", Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
					if life > 0 {
						x.lives(h, "a:1")
					} else if _, err := x.hold(h, "a:1", func(error) {}); err != nil {
						x.c.Abandon() // the other machine was faster
					}
				}}), nil
			},
		},
	}
}

// nameWorld has the machines that compete for the name.
type nameWorld struct {
	c     *explore.Case
	meets []int // the conditions of the scenario, in its order; nil: all
	again bool  // only one session is expired
	cut   bool  // a link is cut for a while
	// healed: the link is restored.
	healed bool
}

func newNameWorld(c *explore.Case, meets ...int) *nameWorld {
	return &nameWorld{c: c, meets: meets, again: meets != nil}
}

func (x *nameWorld) met(condition int) {
	if x.meets == nil {
		x.c.Sometimes(condition)
	}
	for i, m := range x.meets {
		if m == condition {
			x.c.Sometimes(i)
		}
	}
}

// config adds the other machine, and the faults of the controller.
func (x *nameWorld) config(first sim.Node) sim.Config {
	other := sim.Node{Name: "peer.b", Main: func(h host.Host, _ int) { x.lives(h, "b:1") }}
	clock := sim.Node{Name: "clock", Main: func(h host.Host, _ int) {
		what := eldest
		if !x.again && h.Rand(2) == 1 {
			what = empty
		}
		if err := order(h, what); err != nil {
			x.c.Fail(err)
		}
	}}
	x.c.OnReset(func() { x.healed = false })
	x.c.Remembers(x.print)
	return sim.Config{Profile: x.c.Profile, Budget: x.c.Budget, Services: []sim.Service{controller()}, Nodes: []sim.Node{first, other, clock},
		Gate: func(faults.Kind, bool) bool { return !x.healed }}
}

func (x *nameWorld) print() fingerprint.Print { return bits(fingerprint.Print{}, x.healed) }

func (x *nameWorld) hold(h host.Host, addr string, lost func(error)) (*cluster.Name, error) {
	return cluster.Hold(h, cluster.NameConfig{Coord: client(h), Name: "peer", Addr: addr, Wait: 300 * time.Millisecond, Lost: lost})
}

// lives is a machine that claims the name and lives for two heartbeats. It looks up the
// holder after the first, and judges after the second, when everything is quiet.
func (x *nameWorld) lives(h host.Host, addr string) {
	mu, lost := h.NewMutex(), false
	_, err := x.hold(h, addr, func(error) {
		mu.Lock()
		lost = true
		mu.Unlock()
	})
	switch {
	case errors.Is(err, cluster.ErrTaken):
		x.met(metNoName)
		return
	case errors.Is(err, coord.ErrSessionExpired), x.cut && errors.Is(err, coord.ErrUnavailable): // during the claim
		return
	case err != nil:
		x.c.Fail(err)
		return
	}
	c := client(h)
	was, _, _ := c.Get("names/peer")
	if at, err := cluster.AddressOf(c, "peer"); err == nil && len(was) > 0 && !strings.HasPrefix(string(was), at) {
		x.met(metWrongAddress)
	}
	if x.cut {
		h.Sleep(cluster.NameHeartbeat + time.Second)
		x.heal(h)
	}
	h.Sleep(2*cluster.NameHeartbeat + time.Second)
	mu.Lock()
	knows := lost
	mu.Unlock()
	now, _, err := c.Get("names/peer")
	if err != nil && !errors.Is(err, coord.ErrNotFound) {
		x.c.Fail(err)
		return
	}
	at, err := cluster.AddressOf(c, "peer")
	x.judge(addr, string(was), string(now), at, knows, err)
}

// heal stops the faults.
func (x *nameWorld) heal(h host.Host) {
	if h.Name() == "peer.a" {
		x.c.Heal("peer.a", coordName)
		x.healed = true
		x.c.History(x.print())
	}
}

// judge checks what must hold at a machine once all is quiet.
func (x *nameWorld) judge(addr, was, now, at string, knows bool, err error) {
	switch mine := strings.HasPrefix(now, addr+" "); {
	case mine && knows:
		x.fail("false-alarm", "the machine at %s has the name, but was notified of its loss", addr)
	case !mine && !knows:
		x.fail("not-told", "the machine at %s does not have the name, whose entry is %q, and was not notified", addr, now)
	case mine && (err != nil || at != addr):
		x.fail("found-elsewhere", "the machine at %s has the name, but is found at %q (%v)", addr, at, err)
	case knows:
		x.met(metLost)
	case was != now:
		x.met(metAgain)
	}
	x.c.Report(fingerprint.Print{}.String(addr).Bool(knows))
}

func (x *nameWorld) fail(class, format string, args ...any) {
	x.c.Fail(&violation{class, fmt.Sprintf(format, args...)})
}
