package pool

import (
	"errors"
	"fmt"
	"slices"
)

// Errors; test for them with errors.Is.
var (
	// ErrSize: there is no such pool.
	ErrSize = errors.New("pool: bad size")
	// ErrUnknown: there is no node with this number: it has failed, or never existed.
	ErrUnknown = errors.New("pool: unknown node")
)

// MaxNodes bounds the groups of a pool, and its backups.
const MaxNodes = 1 << 24

// Pool is the CPU nodes of all groups. Groups and nodes have numbers from 0.
type Pool struct {
	backups int
	leads   []int       // by group; none if it waits
	serves  map[int]int // by node: its group, or none if it is a backup
	free    []int       // backups, the one that has been free longest first
	waiting []int       // groups, the one that has waited longest first
	next    int         // number of the next node
}

const none = -1

// Step is the result of a change of the pool: if Given, Node begins to serve Group.
type Step struct {
	Group, Node int
	Given       bool
}

// New returns a pool: node g serves group g, and the nodes after them are backups. The error
// wraps [ErrSize].
func New(groups, backups int) (*Pool, error) {
	if groups < 1 || backups < 0 || groups > MaxNodes || backups > MaxNodes {
		return nil, fmt.Errorf("%w: %d groups and %d backups: 1 group to %d, and 0 backups to %d", ErrSize, groups, backups, MaxNodes, MaxNodes)
	}
	p := &Pool{backups: backups, serves: make(map[int]int, groups+backups)}
	for range groups {
		p.serves[p.next] = len(p.leads)
		p.leads = append(p.leads, p.next)
		p.next++
	}
	for range backups {
		p.Add()
	}
	return p, nil
}

// Lose removes a node that has failed. If it was a coordinator, its group asks for a backup,
// and gets one or waits. The error wraps [ErrUnknown].
func (p *Pool) Lose(node int) (Step, error) {
	group, ok := p.serves[node]
	if !ok {
		return Step{}, fmt.Errorf("%w: %d", ErrUnknown, node)
	}
	delete(p.serves, node)
	if group == none {
		p.free = slices.DeleteFunc(p.free, func(n int) bool { return n == node })
		return Step{}, nil
	}
	p.leads[group] = none
	p.waiting = append(p.waiting, group)
	return p.give(), nil
}

// Add puts a node that was provisioned into the pool. The group that has waited longest gets
// it at once.
func (p *Pool) Add() (node int, s Step) {
	node = p.next
	p.next++
	p.serves[node] = none
	p.free = append(p.free, node)
	return node, p.give()
}

// give assigns the backup that has been free longest to the group that has waited longest.
func (p *Pool) give() Step {
	if len(p.free) == 0 || len(p.waiting) == 0 {
		return Step{}
	}
	s := Step{Group: p.waiting[0], Node: p.free[0], Given: true}
	p.waiting, p.free = p.waiting[1:], p.free[1:]
	p.leads[s.Group], p.serves[s.Node] = s.Node, s.Group
	return s
}

// Serves returns the group that a node serves, and false if it is a backup or does not exist.
func (p *Pool) Serves(node int) (int, bool) {
	g, ok := p.serves[node]
	return g, ok && g != none
}

// Leads returns the node that serves a group, and false if the group waits or does not exist.
func (p *Pool) Leads(group int) (int, bool) {
	if group < 0 || group >= len(p.leads) || p.leads[group] == none {
		return 0, false
	}
	return p.leads[group], true
}

// Free returns the backups. The first one serves next.
func (p *Pool) Free() []int { return slices.Clone(p.free) }

// Waiting returns the groups without a coordinator. The first one is served next.
func (p *Pool) Waiting() []int { return slices.Clone(p.waiting) }

// Missing returns how many nodes the pool has lost: the number of nodes that must have been
// ordered.
func (p *Pool) Missing() int { return len(p.leads) + p.backups - len(p.serves) }
