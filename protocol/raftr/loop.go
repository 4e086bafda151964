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
		if vacant, err := n.Watch(); err != nil {
			return err
		} else if !vacant { // a leader has sent a message meanwhile
			continue
		}
		outcome, err := n.Campaign()
		if err != nil {
			return err
		}
		if outcome != Won {
			n.backOff()
			continue
		}
		if err := n.keep(led); !errors.Is(err, ErrNotLeader) {
			return err
		}
		n.h.Logf("no longer leads")
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

// keep leads: it serves as soon as a majority can be reached, and sends heartbeats until another node leads.
func (n *Node) keep(led func(term uint64)) error {
	for serves := false; ; n.h.Sleep(n.cfg.Election / 4) {
		n.reconnect()
		beat := n.Beat
		if !serves {
			beat = n.Lead
		}
		switch err := beat(); {
		case errors.Is(err, ErrUnavailable):
			n.h.Logf("%v", err)
		case err != nil:
			return err
		case !serves:
			serves = true
			if led != nil {
				led(n.Term())
			}
		}
	}
}
