package cost

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput: a number of the input is not possible.
var ErrInput = errors.New("cost: bad input")

// Price is the price of a machine in a cloud (6.4.3).
type Price struct {
	Name string  `json:"name"`
	Core float64 `json:"core"` // dollars for a core and an hour
	GB   float64 `json:"gb"`   // dollars for a gigabyte of memory and an hour
}

// Machine is a machine of table 2.
type Machine struct {
	Cores int `json:"cores"`
	GB    int `json:"gb"`
}

// Hour returns the price of the machine for an hour.
func (p Price) Hour(m Machine) float64 { return float64(m.Cores)*p.Core + float64(m.GB)*p.GB }

// Input is the input of the computation.
type Input struct {
	Prices []Price `json:"prices"`
	F      []int   `json:"f"` // failures to tolerate; the paper has 1 and 2
	// Groups share Backups CPU nodes (5.2).
	Groups  int `json:"groups"`
	Backups int `json:"backups"`
	State   int `json:"state"` // gigabytes of a replica
}

// Paper returns the input of the paper (6.4.3).
func Paper() Input {
	return Input{Prices: []Price{{"AWS", 0.033, 0.00275}, {"GCP", 0.033, 0.00445}}, F: []int{1, 2}, Groups: 100, Backups: 2, State: 64}
}

// MaxF is the largest F for which costs are computed.
const MaxF = 100

const most = 1 << 30

// validate checks the input. Its error wraps [ErrInput].
func (in *Input) validate() error {
	for _, p := range in.Prices {
		if !(p.Core >= 0) || !(p.GB >= 0) || p.Core+p.GB == 0 || math.IsInf(p.Core+p.GB, 0) {
			return fmt.Errorf("%w: the price %s of %v $ for a core and %v $ for a gigabyte; want neither negative, and not both 0", ErrInput, p.Name, p.Core, p.GB)
		}
	}
	for _, f := range in.F {
		if f < 1 || f > MaxF {
			return fmt.Errorf("%w: F is %d; it must be 1 to %d", ErrInput, f, MaxF)
		}
	}
	switch {
	case len(in.Prices) == 0 || len(in.F) == 0:
		return fmt.Errorf("%w: %d prices and %d values of F; want at least 1 of each", ErrInput, len(in.Prices), len(in.F))
	case in.Groups < 1 || in.Groups > most || in.Backups < 0 || in.Backups > most:
		return fmt.Errorf("%w: %d groups and %d backups; want 1 to %d groups, and 0 to %d backups", ErrInput, in.Groups, in.Backups, most, most)
	case in.State < 2 || in.State > most:
		return fmt.Errorf("%w: a state of %d GB; want 2 to %d", ErrInput, in.State, most)
	}
	return nil
}

// System is a way to deploy a group.
type System struct {
	Name   string
	Codes  bool // memory nodes have chunks of blocks (5.1)
	Shared bool // the groups share backup CPU nodes (5.2)
	raft   bool
}

// Systems are the systems of figures 9 and 10. The others are compared with the first.
func Systems() []System {
	return []System{{Name: "Raft-R", raft: true}, {Name: "Sift"}, {Name: "Sift EC", Codes: true},
		{Name: "Sift + shared", Shared: true}, {Name: "Sift EC + shared", Codes: true, Shared: true}}
}

// Nodes are machines of one kind in a deployment. There may be a fraction of a node in a
// group, if groups share it.
type Nodes struct {
	Role    string  `json:"role"`
	Number  float64 `json:"number"`
	Machine Machine `json:"machine"`
}

// The cores of table 2, which the paper has measured: with these numbers all systems reach
// the same throughput. A memory node needs one core to set up connections.
const (
	raftCores   = 8
	siftCores   = 10
	codesCores  = 12
	memoryCores = 1
)

// nodes returns the machines of a group.
func (s System) nodes(in *Input, f int) []Nodes {
	if s.raft {
		return []Nodes{{"node", float64(2*f + 1), Machine{raftCores, in.State}}}
	}
	cpus, cores, memory := float64(f+1), siftCores, in.State
	if s.Shared {
		cpus = float64(in.Groups+in.Backups) / float64(in.Groups)
	}
	if s.Codes {
		cores, memory = codesCores, (in.State+f)/(f+1)
	}
	return []Nodes{{"CPU node", cpus, Machine{cores, in.State / 2}}, {"memory node", float64(2*f + 1), Machine{memoryCores, memory}}}
}

// Cell is a bar of figures 9 and 10.
type Cell struct {
	System   string  `json:"system"`
	F        int     `json:"f"`
	Price    string  `json:"price"`
	Nodes    []Nodes `json:"nodes"`
	Hour     float64 `json:"hour"`     // dollars
	Relative float64 `json:"relative"` // to the cost of Raft-R
}

// Thousandths returns Relative with three digits. Prices are decimal, so an exact half is
// rounded up in spite of binary errors: 0.8725 is 0.873.
func (c *Cell) Thousandths() string { return fmt.Sprintf("%.3f", c.Relative+1e-9) }

// Compute returns the cells of figures 9 and 10, by system, and for each by F and price.
func Compute(in Input) ([]Cell, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	hour := func(s System, f int, p Price) (sum float64) {
		for _, n := range s.nodes(&in, f) {
			sum += n.Number * p.Hour(n.Machine)
		}
		return sum
	}
	var out []Cell
	for _, s := range Systems() {
		for _, f := range in.F {
			for _, p := range in.Prices {
				x := Cell{System: s.Name, F: f, Price: p.Name, Nodes: s.nodes(&in, f), Hour: hour(s, f, p)}
				x.Relative = x.Hour / hour(Systems()[0], f, p)
				out = append(out, x)
			}
		}
	}
	return out, nil
}
