package raftr

import (
	"errors"
	"time"
)

// Run follows, stands for election when there is no leader, and leads, for as long as the host runs. It
// calls led, if that is not nil, when the node begins to lead. [Node.Serve] and [Node.ServeClients] run
// beside it.
func (n *Node) Run(led func(term uint64)) error {
	for {
		if err := n.vacancy(); err != nil {
			return err
		}
		n.Connect()
		outcome, err := n.Campaign()
		if err != nil {
			return err
		}
		if outcome != Won {
			n.backOff()
			continue
		}
		err = n.Lead()
		if err == nil {
			if led != nil {
				led(n.Term())
			}
			err = n.keep()
		}
		if !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrUnavailable) {
			return err
		}
		n.h.Logf("leads no more: %v", err)
	}
}

// vacancy returns when the node should stand for election.
func (n *Node) vacancy() error {
	for {
		n.backOff()
		vacant, err := n.Watch()
		if err != nil || vacant {
			return err
		}
	}
}

// backOff waits for one to two quarters of the election timeout, so that not all nodes stand at once.
func (n *Node) backOff() {
	const steps = 16
	quarter := n.cfg.Election / 4
	n.h.Sleep(quarter + quarter*time.Duration(n.h.Rand(steps))/steps)
}

// keep sends heartbeats until the node leads no more.
func (n *Node) keep() error {
	for {
		n.h.Sleep(n.cfg.Election / 4)
		n.Connect()
		if err := n.Beat(); err != nil {
			return err
		}
	}
}
