// Package registercheck states the promises of package register, and the faults under which they hold.
package registercheck

import (
	"github.com/verbatim-rdma/verbatim/examples/start/register"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenarios are the scenarios of the register.
func Scenarios() []*explore.Scenario { return []*explore.Scenario{Recovery()} }

// seen is the memory of the checks in a run.
type seen struct {
	Written uint64 // the last value for which Write has returned
}

// Recovery is a client that writes twice and crashes at any moment. Its next life reads.
func Recovery() *explore.Scenario {
	hosts := []string{"host1", "host2", "host3"}
	return &explore.Scenario{
		Name:    "register/recovery",
		Doc:     "What was written is read after the client and a host have crashed.",
		Profile: "strong",
		Faults:  "crash(client)<=1, crash(host*)<=1",
		Bounds:  "three hosts, two writes, one read",
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			was := scenario.Memory[seen](k)
			lives := k.Lives(2, nil)
			client := lives.Node("client", func(h host.Host, life int) {
				r, err := register.Open(h, hosts...)
				if k.Check(err) && life == 0 {
					k.Check(writes(k, r, was))
				} else if err == nil {
					k.Check(reads(k, r, was))
				}
			})
			nodes := []sim.Node{client}
			for _, name := range hosts {
				nodes = append(nodes, scenario.StayDown(k.Server(name, register.Serve))...)
			}
			return k.World(nodes...), nil
		},
	}
}

// writes writes 1 and 2.
func writes(k *scenario.Kit, r *register.Register, was *seen) error {
	for v := uint64(1); v <= 2; v++ {
		if err := r.Write(v); err != nil {
			return err
		}
		was.Written = v
		k.History()
	}
	return nil
}

// reads reads once: an older value than the last that was written is lost, and a larger one was never written.
func reads(k *scenario.Kit, r *register.Register, was *seen) error {
	v, err := r.Read()
	switch {
	case err != nil:
		return err
	case v < was.Written:
		return scenario.Failed("lost", "Write(%d) had returned, and the next life read %d", was.Written, v)
	case v > 2:
		return scenario.Failed("made-up", "nobody wrote %d", v)
	}
	return nil
}
