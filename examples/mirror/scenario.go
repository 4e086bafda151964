package mirror

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenario is a writer, a reader and two mirrors. One of the mirrors may crash.
func Scenario(name string, write func(*Register, uint64) error) *explore.Scenario {
	return &explore.Scenario{
		Name:    "mirror/" + name,
		Doc:     "The register behaves like a single word, although a mirror and the writer may crash.",
		Profile: "strong",
		Faults:  "crash(writer)<=1, crash(mirror*)<=1",
		Bounds:  "two mirrors, one write, two reads",
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			word := k.Record(model.Register{})
			writer, reader := word.Client("writer"), word.Client("reader")
			return k.World(scenario.StayDown(
				k.Host("writer", func(h host.Host) error { return writes(h, writer, write) }),
				k.Host("reader", func(h host.Host) error { return reads(h, reader) }),
				k.Server("mirror1", Serve),
				k.Server("mirror2", Serve),
			)...), nil
		},
	}
}

// writes writes 1 once.
func writes(h host.Host, client *scenario.Client, write func(*Register, uint64) error) error {
	r, err := Open(h, "mirror1", "mirror2")
	if err != nil {
		return err
	}
	return client.Do(model.RegisterWrite{Value: 1}, func() (any, error) { return model.Done{}, write(r, 1) })
}

// reads reads twice.
func reads(h host.Host, client *scenario.Client) error {
	r, err := Open(h, "mirror1", "mirror2")
	for i := 0; i < 2 && err == nil; i++ {
		err = client.Do(model.RegisterRead{}, func() (any, error) {
			v, err := r.Read()
			return model.RegisterValue{Value: v}, err
		})
	}
	return err
}
