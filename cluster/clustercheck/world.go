package clustercheck

import (
	"slices"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenarios returns the built-in scenarios of package cluster.
func Scenarios() []*explore.Scenario {
	return slices.Concat(instanceScenarios(), directoryScenarios(), nameScenarios(), []*explore.Scenario{stoppedScenario()}, handoverScenarios(), serveScenarios())
}

const (
	coordName = "coord"
	app       = "app"
)

// Requests that only a scenario makes: expire the sessions of a host, expire the oldest
// session, and restart empty.
const (
	expire = "expire "
	eldest = "eldest"
	empty  = "empty"
)

// controller returns a coordination service; each of its operations is one step. The name
// of a host is the part before the dot, so machines with the same name can share a
// world.
func controller() sim.Service {
	k := &coord.Keeper{}
	return sim.Service{Host: coordName, Name: coordName,
		Hash:  func() fingerprint.Print { return k.Hash().Uint(uint64(k.After)) },
		Reset: func() { k.Reset(); k.After = 0 },
		Apply: func(from string, req []byte) []byte {
			switch text := string(req); {
			case text == empty:
				k.Reset()
				k.After += 100     // a later restart
				k.Apply(from, nil) // the keeper applies After with its first request
				return nil
			case text == eldest:
				if all := k.Sessions(nil); len(all) > 0 {
					k.ExpireSession(all[0].ID)
				}
				return nil
			case strings.HasPrefix(text, expire):
				k.ExpireHost(text[len(expire):])
				return nil
			}
			name, _, _ := strings.Cut(from, ".")
			return k.Apply(name, req)
		},
		ReadOnly: func(req []byte) bool { return !strings.HasPrefix(string(req), "e") && coord.ReadOnly(req) },
	}
}

// order makes the controller do something that no client requests.
func order(h host.Host, what string) error {
	_, err := h.Call(coordName, coordName, []byte(what), verbs.Forever)
	return err
}

// fewBeats is a host with a limited number of heartbeats: they never stop by
// themselves, and where a timer may fire at any moment each adds states.
type fewBeats struct {
	host.Host
	left  int
	mu    host.Mutex
	never host.Cond
}

func newFewBeats(h host.Host, n int) *fewBeats {
	mu := h.NewMutex()
	return &fewBeats{h, n, mu, h.NewCond(mu)}
}

func (h *fewBeats) Sleep(d time.Duration) {
	if d != cluster.DefaultHeartbeat {
		h.Host.Sleep(d)
		return
	}
	h.mu.Lock()
	for h.left == 0 {
		h.never.Wait()
	}
	h.left--
	h.mu.Unlock()
	h.Host.Sleep(d)
}

func client(h host.Host) coord.Client { return coord.NewClient(h, coordName, coordName) }

// violation is a violation of a class.
type violation struct{ class, text string }

func (v *violation) Error() string { return v.text }

// Class implements explore.Classed.
func (v *violation) Class() string { return v.class }

func bits(p fingerprint.Print, all ...bool) fingerprint.Print {
	for _, b := range all {
		p = p.Bool(b)
	}
	return p
}
