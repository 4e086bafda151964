package cluster

import "github.com/verbatim-rdma/verbatim/coord"

// Guard is c for what the instance changes at the controller: each change asks first whether
// the session lives. A process that was stopped would otherwise replace a peer in the entry of
// a file that the next instance has: a version of the entry says which change came before, and
// at a controller that has come back empty the next instance's entry has the same versions.
//
// Between the answer and the change there is a moment, as after [Instance.Ask].
func (i *Instance) Guard(c coord.Client) coord.Client { return &guarded{c, i} }

type guarded struct {
	coord.Client
	i *Instance
}

func (g *guarded) Create(key string, value []byte, s coord.Session) error {
	if err := g.i.Ask(); err != nil {
		return err
	}
	return g.Client.Create(key, value, s)
}

func (g *guarded) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	if err := g.i.Ask(); err != nil {
		return 0, err
	}
	return g.Client.Set(key, value, ifVersion)
}

func (g *guarded) Delete(key string, ifVersion uint64) error {
	if err := g.i.Ask(); err != nil {
		return err
	}
	return g.Client.Delete(key, ifVersion)
}
