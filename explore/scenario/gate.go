package scenario

import "github.com/verbatim-rdma/verbatim/faults"

// Gate reports whether a fault of kind k may strike now, or, with heal, whether a link
// may heal. It is for sim.Config.Gate. It may depend only on the lives of hosts and on
// what the checks remember, since the search merges states that agree in those.
type Gate = func(k faults.Kind, heal bool) bool

// When permits faults and heals as long as may returns true.
func When(may func() bool) Gate { return func(faults.Kind, bool) bool { return may() } }

// Strikes permits faults of one kind as long as may returns true. It permits everything
// else.
func Strikes(kind faults.Kind, may func() bool) Gate {
	return func(k faults.Kind, heal bool) bool { return heal || k != kind || may() }
}

// Heals permits heals as long as may returns true. It permits everything else.
func Heals(may func() bool) Gate {
	return func(_ faults.Kind, heal bool) bool { return !heal || may() }
}

// All permits what all gates permit. Without gates it is nil, which permits everything.
func All(gates ...Gate) Gate {
	if len(gates) == 0 {
		return nil
	}
	return func(k faults.Kind, heal bool) bool {
		for _, g := range gates {
			if !g(k, heal) {
				return false
			}
		}
		return true
	}
}
