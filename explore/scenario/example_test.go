package scenario_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The protocol: a number on two servers. A write goes to both, a read to the first that
// answers.

func serve(h host.Host) error {
	lis, err := h.Listen("number")
	number := byte(0)
	for err == nil {
		var r host.Request
		if r, err = lis.Accept(verbs.Forever); err == nil {
			if body := r.Body(); len(body) > 0 {
				number = body[0]
			}
			r.Reply([]byte{number})
		}
	}
	return err
}

func read(h host.Host) ([]byte, error) {
	got, err := h.Call("server1", "number", nil, verbs.Forever)
	if err != nil {
		got, err = h.Call("server2", "number", nil, verbs.Forever)
	}
	return got, err
}

func write(h host.Host, v byte, servers ...string) error {
	_, first := h.Call(servers[0], "number", []byte{v}, verbs.Forever)
	_, second := h.Call(servers[1], "number", []byte{v}, verbs.Forever)
	if first != nil {
		return second
	}
	return nil
}

// first is the protocol's first scenario.
func first(servers ...string) *explore.Scenario {
	const found = "a read found what was written"
	return &explore.Scenario{
		Name: "number/first", Doc: "The two servers look like one number, though one of them may crash.",
		Profile: "strong", Faults: "crash(server*)<=1", Bounds: "one write, two reads",
		Sometimes: []string{found},
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			number := k.Record(model.Register{})
			writer, reader := number.Client("writer"), number.Client("reader")
			return k.World(scenario.StayDown(
				k.Server("server1", serve),
				k.Server("server2", serve),
				k.Host("writer", func(h host.Host) error {
					return writer.Do(model.RegisterWrite{Value: 1}, func() (any, error) {
						return model.Done{}, write(h, 1, servers...)
					})
				}),
				k.Host("reader", func(h host.Host) (err error) {
					for i := 0; i < 2 && err == nil; i++ {
						err = reader.Do(model.RegisterRead{}, func() (any, error) {
							got, err := read(h)
							if err != nil {
								return nil, err
							}
							if got[0] == 1 {
								k.Meet(found)
							}
							return model.RegisterValue{Value: uint64(got[0])}, nil
						})
					}
					return err
				}),
			)...), nil
		},
	}
}

// A number on two servers. The order of the writes matters: what a reader finds on the
// first server must already be on the second, which it asks when the first has crashed.
func Example() {
	for _, servers := range [][]string{{"server2", "server1"}, {"server1", "server2"}} {
		r, err := explore.Check(first(servers...), explore.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(servers, r.Verdict)
		if x := r.Counterexample; x != nil {
			fmt.Println(x.Class)
		}
	}
	// Output:
	// [server2 server1] verified
	// [server1 server2] violated
	// not-linearizable
}
