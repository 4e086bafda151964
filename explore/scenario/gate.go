package scenario

import "github.com/verbatim-rdma/verbatim/faults"

// Gate says whether a fault of kind k may strike now, or with heal whether a link may heal.
// It is for sim.Config.Gate. It may look at the lives of hosts and at what the checks
// remember, and at nothing else: the search takes states for equal that agree in those.
type Gate = func(k faults.Kind, heal bool) bool

// When lets faults strike, and links heal, as long as may reports true.
func When(may func() bool) Gate { return func(faults.Kind, bool) bool { return may() } }

// Strikes lets faults of one kind strike as long as may reports true. It allows all else.
func Strikes(kind faults.Kind, may func() bool) Gate {
	return func(k faults.Kind, heal bool) bool { return heal || k != kind || may() }
}

// Heals lets links heal as long as may reports true. It allows all else.
func Heals(may func() bool) Gate {
	return func(_ faults.Kind, heal bool) bool { return !heal || may() }
}

// All allows what all gates allow. Without gates it is nil, which allows everything.
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
