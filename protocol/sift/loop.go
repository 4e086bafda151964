package sift

import (
	"errors"
	"fmt"
)

// Follow watches the coordinator until it is believed dead, and stands for election until
// this node is the coordinator (3.2). It returns only with a coordinator, or with an error
// that no further attempt can clear.
func (n *Node) Follow() (*Coordinator, error) {
	for {
		if err := n.waitForVacancy(); err != nil {
			return nil, err
		}
		if c, err := n.take(); c != nil || err != nil {
			return c, err
		}
	}
}

// take stands for election, and makes this node the coordinator if it wins. It returns nil if
// another attempt may be needed.
func (n *Node) take() (*Coordinator, error) {
	o, err := n.stand()
	if err != nil || o == Lost {
		return nil, err
	}
	c, err := n.Lead()
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrReplaced) {
		n.h.Logf("%v", err)
		n.misses = 0
		return nil, nil
	}
	return c, err
}

// waitForVacancy returns when the group needs a new coordinator.
func (n *Node) waitForVacancy() error {
	for {
		vacant, err := n.Watch()
		switch {
		case errors.Is(err, ErrUnavailable):
			n.h.Logf("%v", err)
		case err != nil || vacant:
			return err
		}
		n.h.Sleep(n.cfg.Period)
	}
}

// stand stands for election until a round is won or lost.
func (n *Node) stand() (Outcome, error) {
	for {
		o, err := n.Campaign()
		if err != nil || o != Split {
			return o, err
		}
		n.BackOff()
		if err := n.connect(); err != nil {
			return 0, fmt.Errorf("sift: stand for election: %w", err)
		}
	}
}

// Keep sends heartbeats while this node is the coordinator. It returns the reason
// why it no longer is.
func (c *Coordinator) Keep() error {
	for {
		c.h.Sleep(c.cfg.Period)
		if err := c.Beat(); err != nil {
			return err
		}
	}
}

// Apply applies entries in the background while this node is the coordinator.
func (c *Coordinator) Apply() {
	c.enter()
	defer c.leave()
	for c.stopped == nil {
		c.advance()
	}
}

// Persist gives committed writes to Config.Durable in the background, while this node is the
// coordinator (3.5).
func (c *Coordinator) Persist() {
	c.enter()
	defer c.leave()
	for c.stopped == nil {
		c.persist()
	}
}

// Readmit brings failed memory nodes back, while this node is the coordinator
// (3.4.2). It returns the reason why it no longer is. See [Coordinator.Rejoin] for when to begin.
//
// A probe finds a node that has failed while no task read or wrote.
func (c *Coordinator) Readmit() error {
	for {
		c.h.Sleep(c.cfg.Period)
		if err := c.probe(); err != nil {
			return err
		}
		for _, name := range c.Failed() {
			if err := c.CopyRegion(name); err != nil {
				c.h.Logf("%v", err)
			}
		}
	}
}

// probe reads the state word of every node. A connection that no request uses does not fail, even if the node
// has restarted since.
func (c *Coordinator) probe() error {
	c.enter()
	defer c.leave()
	_, _, err := c.readAll(0, stateSize)
	return err
}
