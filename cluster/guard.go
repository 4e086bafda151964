package cluster

import "github.com/verbatim-rdma/verbatim/coord"

// Guard wraps c for changes that the instance makes at the controller: each first asks
// whether the session lives. Otherwise a process that was stopped could replace a peer
// in the file entry of the next instance. The version of the entry does not prevent
// that: if the controller has restarted empty, the next instance's entry has the same
// versions.
//
// As with [Instance.Ask], the session can expire between the answer and the change.
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
