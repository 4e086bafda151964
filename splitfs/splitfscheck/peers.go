package splitfscheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// peerScenarios use the real code of NCL.
func peerScenarios() []*explore.Scenario {
	log := "a.log"
	return []*explore.Scenario{
		build(spec{
			name:   "peer",
			doc:    "The file is on a peer of NCL, and the writes of a crashed application tear as the card allows.",
			faults: "crash(app)<=1",
			bounds: "f=0, one peer; an append of 8 bytes, an overwrite of 4 and one of 12",
			load: workload{peers: 1, steady: true, calm: 1, program: []one{{create(log, 0)}, {add(log, 8)}, {put(log, 2, 4), put(log, 4, 12)}},
				meets: []string{sawBefore, sawAfter}},
		}),
		build(spec{
			name:   "peer-fails",
			doc:    "A peer revokes its memory, a file is created while the peer has no memory left, and an object is missing: the errors name the log peers as the cause, and never claim that an existing file does not exist.",
			faults: "none",
			bounds: "f=0, one peer with memory for two files",
			load:   workload{peers: 1, script: losing},
		}),
	}
}

// deepPeerScenarios use three peers and take minutes.
func deepPeerScenarios() []*explore.Scenario {
	log := "a.log"
	return []*explore.Scenario{
		build(spec{
			name:   "peers",
			doc:    "The file is on three peers, and is recovered from any two.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers; an append of 8 bytes",
			load: workload{peers: 3, steady: true, calm: 1, program: []one{{create(log, 0)}, {add(log, 8)}},
				meets: []string{sawBefore, sawAfter}},
		}),
	}
}

// ncl returns the store on the peers.
func (r *run) ncl() splitfs.Store { return splitfs.NCL(r.h, r.nclConfig("db"), 0) }

func (r *run) nclConfig(app string) ncl.Config {
	var peers []string
	for i := range r.load.peers {
		peers = append(peers, fmt.Sprint("peer", i+1))
	}
	return ncl.Config{App: app, F: r.load.peers / 2, Peers: peers, Coord: scenario.Dial(r.h)}
}

// withPeers adds the peers of a workload, and their controller.
func (m *memory) withPeers(cfg *sim.Config) {
	if m.load.peers == 0 {
		return
	}
	cfg.Services = []sim.Service{scenario.Controller()}
	for i := range m.load.peers {
		peer := m.Server(fmt.Sprint("peer", i+1), func(h host.Host) error { return ncl.ServePeer(h, ncl.PeerConfig{Memory: 4800}) })
		peer.Symmetric = m.load.peers > 1
		cfg.Nodes = append(cfg.Nodes, peer)
	}
}

// losing is about a single peer that fails in several ways.
func losing(r *run) {
	r.mount()
	both(add("a.log", 3))(r)
	f := r.opens("a.log", os.O_RDWR)
	r.want("a file", r.opens("b.log", os.O_RDWR|os.O_CREATE).Close(), nil)
	_, err := r.fsys.Open("c.log", os.O_RDWR|os.O_CREATE, perm)
	r.want("a file for which there is no memory", err, splitfs.ErrStore)
	r.want("a file for which there is no memory", err, ncl.ErrRejected)
	_, err = r.fsys.Stat("c.log")
	r.want("the file that was refused", err, fs.ErrNotExist)
	r.want("remove", r.fsys.Remove("b.log"), nil)
	hog, err := ncl.Create(r.h, r.nclConfig("hog"), "hog", 1300)
	r.want("a file of another application in the place of the removed one", err, nil)
	r.want("release", hog.Release(), nil)
	_, err = f.Append([]byte("bb"))
	r.want("append", err, nil)
	r.model.names["a.log"].data = []byte("aaabb")
	delete(r.model.names, "b.log")

	r.want("revocation", ncl.Revoke(r.h, "peer1", time.Second), nil)
	_, err = ncl.Create(r.h, r.nclConfig("hog"), "hog", 2000)
	r.want("a file of another application, which takes the memory", err, nil)
	_, err = f.Append([]byte("cc"))
	r.isOfTheStore("append to memory that is gone", err, splitfs.ErrStore)
	_, err = f.Append([]byte("cc"))
	r.isOfTheStore("once more", err, splitfs.ErrFailed)
	r.want("close", f.Close(), nil)
	_, err = r.fsys.Open("a.log", os.O_RDWR, 0)
	r.isOfTheStore("open what no peer has", err, splitfs.ErrStore)
	_, err = r.fsys.Stat("a.log")
	r.isOfTheStore("look at what no peer has", err, splitfs.ErrStore)
	r.fsys.Close()
	other, err := splitfs.New(splitfs.Config{Dir: &r.dir, Store: splitfs.NCL(r.h, r.nclConfig("other"), 0)})
	r.want("mount for another application", err, nil)
	_, err = other.Stat("a.log")
	r.isOfTheStore("a stub of another application", err, splitfs.ErrCorrupt)
	other.Close()
}

// isOfTheStore checks that an error never claims that an existing file does not exist.
func (r *run) isOfTheStore(what string, err, want error) {
	r.want(what, err, want)
	r.that(!errors.Is(err, fs.ErrNotExist), "%s: %v says that there is no such file", what, err)
}
