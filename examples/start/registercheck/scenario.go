// Package registercheck states the promises of package register, and the faults under which they hold.
package registercheck

import (
	"fmt"

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
			was, told := scenario.Memory[seen](k), k.Journal() // what a viewer shows
			lives := k.Lives(2, nil)
			client := lives.Node("client", func(h host.Host, life int) {
				r, err := register.Open(h, hosts...)
				if k.Check(err) && life == 0 {
					k.Check(writes(k, r, was, told))
				} else if err == nil {
					k.Check(reads(r, was, told))
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
func writes(k *scenario.Kit, r *register.Register, was *seen, told *scenario.Journal) error {
	for v := uint64(1); v <= 2; v++ {
		op := told.Begin("client, life 0", fmt.Sprint("write ", v))
		if err := r.Write(v); err != nil {
			return err
		}
		was.Written = v
		k.History()
		op.End("done")
	}
	return nil
}

// reads reads once: an older value than the last that was written is lost, and a larger one was never written.
func reads(r *register.Register, was *seen, told *scenario.Journal) error {
	op := told.Begin("client, life 1", "read")
	v, err := r.Read()
	if err == nil {
		op.End(v)
	}
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
