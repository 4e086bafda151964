package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Coord is the name of the controller's host, and of its service. A link to it can be
// cut like any other: by the budget partition(app,coord), or by Inject and Heal.
const Coord = "coord"

// Dial returns h's client of the controller.
func Dial(h host.Host) coord.Client { return coord.NewClient(h, Coord, Coord) }

// Controller returns the coordination service, empty before each run: a service that does
// not fail; each call of it is one step. Sessions expire when a scenario decides.
func Controller() sim.Service {
	s, _ := SeededController(nil) // which is right
	return s
}

// SeededController returns a Controller with some keys before each run, which belong to no
// session.
func SeededController(keys map[string][]byte) (sim.Service, error) {
	for key, value := range keys { //lint:ordered any of the errors is right
		if err := checkSeed(key, value); err != nil {
			return sim.Service{}, err
		}
	}
	x := &controller{keys: keys}
	return sim.Service{Host: Coord, Name: Coord, Apply: x.apply, ReadOnly: readOnly, Hash: x.store.Hash, Reset: x.reset}, nil
}

func checkSeed(key string, value []byte) error {
	err := coord.CheckKey(key)
	if err == nil {
		err = coord.CheckValue(value)
	}
	if err != nil {
		return fmt.Errorf("scenario: the controller cannot have the key %q before a run: %w", key, err)
	}
	return nil
}

type controller struct {
	store coord.Store
	keys  map[string][]byte
}

func (x *controller) reset() {
	x.store.Reset()
	c := coord.NewClient(direct{store: &x.store}, Coord, Coord)
	for key, value := range x.keys { //lint:ordered the keys are a set
		_ = c.Create(key, value, coord.NoSession) // checkSeed has checked it
	}
}

// Requests that only scenarios send. No client's request begins like this.
const (
	expire = "expire "
	forget = "forget"
)

func (x *controller) apply(from string, req []byte) []byte {
	of, expires := strings.CutPrefix(string(req), expire)
	switch {
	case expires:
		x.store.ExpireHost(of)
	case string(req) == forget:
		x.store.Forget()
	default:
		return x.store.Apply(from, req)
	}
	return nil
}

func readOnly(req []byte) bool {
	return !strings.HasPrefix(string(req), expire) && string(req) != forget && coord.ReadOnly(req)
}

// Expire makes the controller expire all sessions of a host, including those of its
// earlier lives, as if no heartbeat had arrived for too long.
func Expire(h host.Host, of string) error { return order(h, expire+of) }

// Forget makes the controller lose all keys and sessions, like one that comes back
// empty. It does not reuse session numbers.
func Forget(h host.Host) error { return order(h, forget) }

func order(h host.Host, req string) error {
	_, err := h.Call(Coord, Coord, []byte(req), coord.CallTimeout)
	return err
}

// direct is a host whose calls are carried out at once, before a run begins.
type direct struct {
	host.Host
	store *coord.Store
}

func (d direct) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	return d.store.Apply("", req), nil
}
