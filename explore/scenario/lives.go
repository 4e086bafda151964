package scenario

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// StayDown keeps crashed hosts down.
func StayDown(nodes ...sim.Node) []sim.Node {
	for i := range nodes {
		nodes[i].Again = func(int, bool) bool { return false }
	}
	return nodes
}

// Lives are the lives of one host. A life follows one that has crashed or returned,
// until the last has returned. The last one only observes what the others have left: no
// crash strikes it.
//
// A life that is believed dead may still run together with the next one: see
// [Lives.Zombie].
type Lives struct {
	k            *Kit
	name         string
	last, latest int
	over         func() bool
}

// Lives returns n lives of a host. If over is not nil and returns true when a life
// returns, no other follows.
func (k *Kit) Lives(n int, over func() bool) *Lives {
	l := &Lives{k: k, last: n - 1, over: over}
	k.OnReset(l.reset)
	return l
}

func (l *Lives) reset() { l.latest = 0 }

// Node returns the host. main runs each life.
func (l *Lives) Node(name string, main func(h host.Host, life int)) sim.Node {
	l.name = name
	return sim.Node{Name: name, Main: main, Again: l.again, Immortal: l.Last}
}

func (l *Lives) again(life int, crashed bool) bool {
	if !crashed && (life >= l.last || l.over != nil && l.over()) {
		return false
	}
	l.latest = max(l.latest, life+1)
	return true
}

// Latest returns the life that began last, or is about to.
func (l *Lives) Latest() int {
	l.k.LookAtLives(l.name)
	return l.latest
}

// Last reports whether a life is the observer.
func (l *Lives) Last(life int) bool { return life >= l.last }

// Zombie reports whether a life is believed dead.
func (l *Lives) Zombie(life int) bool { return life < l.Latest() }
