package main

import (
	"errors"
	"net"
	"time"

	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcoord"
)

// siftFlags select a group of Sift as the coordinator.
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

// A new leader of the group needs a while until it serves: clients ask for it that long.
const (
	leaderPause = 100 * time.Millisecond
	leaderTries = 100
)

// controller returns the group.
func (f *siftFlags) controller(h host.Host) (coord.Client, error) {
	return siftcoord.Dial(dialed{h}, siftcoord.ClientConfig{Nodes: f.nodes, Service: coordName, Rounds: leaderTries, Pause: leaderPause})
}

// dialed is a host whose calls wrap [host.ErrNoService] if no connection came about: nobody executes such a request, so a
// client may ask the next node. Otherwise the death of a leader would end every change that is requested before there is
// a new one.
type dialed struct{ host.Host }

func (d dialed) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	resp, err := d.Host.Call(to, service, req, timeout)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		err = unsent{err}
	}
	return resp, err
}

// unsent is the error of such a call. It says what happened, and not that a service is missing.
type unsent struct{ error }

func (unsent) Is(target error) bool { return target == host.ErrNoService }
func (u unsent) Unwrap() error      { return u.error }
