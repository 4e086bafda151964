package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcoord"
)

// siftFlags select a group of Sift nodes as the coordinator.
type siftFlags struct {
	given []string
	nodes []string          // the CPU nodes
	at    map[string]string // their addresses
	set   *pflag.FlagSet
}

func (f *siftFlags) define(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringArrayVar(&f.given, "sift", nil, "use a group of Sift as the coordinator: a CPU node that runs with --coord, as `NAME=ADDRESS`; all of them")
}

// check reports flags that cannot be combined, before a card is opened.
func (f *siftFlags) check(name string) (err error) {
	switch {
	case len(f.given) == 0:
		return nil
	case f.set.Changed("coord"):
		return errors.New("--coord and --sift exclude each other")
	case f.set.Changed("etcd"):
		return errors.New("--etcd and --sift exclude each other")
	}
	f.nodes, f.at, err = addresses("--sift", "cpu1=10.0.0.4:7031", f.given, name, coordName)
	return err
}

// leaderPause and leaderTries bound how long clients ask for a leader: an election takes a while.
const (
	leaderPause = 100 * time.Millisecond
	leaderTries = 100
)

// controller returns the group.
func (f *siftFlags) controller(h host.Host) (coord.Client, error) {
	return siftcoord.Dial(h, siftcoord.ClientConfig{Nodes: f.nodes, Service: coordName, Rounds: leaderTries, Pause: leaderPause})
}
