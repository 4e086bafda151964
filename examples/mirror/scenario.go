package mirror

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenario is a writer, a reader and two mirrors, one of which may crash.
func Scenario(name string, write func(*Register, uint64) error) *explore.Scenario {
	return &explore.Scenario{
		Name:    "mirror/" + name,
		Doc:     "The register looks to its clients like one word, though a mirror and the writer may crash.",
		Profile: "strong",
		Faults:  "crash(writer)<=1, crash(mirror*)<=1",
		Bounds:  "two mirrors, one write, two reads",
		Build: func(c *explore.Case) (sim.Config, error) {
			x := &clients{c: c, write: write}
			c.OnReset(x.reset)
			c.Shows(func() []explore.Operation { return explore.Operations(&x.hist) })
			once := func(int, bool) bool { return false } // who crashes stays down
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: "writer", Main: x.writer, Again: once},
				{Name: "reader", Main: x.reader, Again: once},
				{Name: "mirror1", Main: mirror, Again: once, Daemon: true},
				{Name: "mirror2", Main: mirror, Again: once, Daemon: true},
			}}, nil
		},
	}
}

func mirror(h host.Host, _ int) {
	panic(Serve(h))
}

// clients run the workload and record what they see.
type clients struct {
	c     *explore.Case
	write func(*Register, uint64) error
	hist  model.History
	seen  fingerprint.Print // of hist
}

func (x *clients) reset() {
	x.hist.Reset()
	x.seen = fingerprint.Print{}
}

func (x *clients) writer(h host.Host, _ int) {
	r, err := Open(h, "mirror1", "mirror2")
	if err == nil {
		op := x.invoke(0, model.RegisterWrite{Value: 1})
		if err = x.write(r, 1); err == nil {
			x.ends(op, model.Done{}, 1)
		}
	}
	x.check(err)
}

func (x *clients) reader(h host.Host, _ int) {
	r, err := Open(h, "mirror1", "mirror2")
	for i := 0; i < 2 && err == nil; i++ {
		op := x.invoke(1, model.RegisterRead{})
		var v uint64
		if v, err = r.Read(); err == nil {
			x.ends(op, model.RegisterValue{Value: v}, v)
		}
	}
	x.check(err)
}

func (x *clients) invoke(client int, input any) model.OpID {
	op, err := x.hist.Invoke(client, input, x.c.Step())
	x.check(err)
	x.remember(x.seen.String("invoke").Int(client))
	return op
}

// ends records an answer and asks whether one register explains all so far.
func (x *clients) ends(op model.OpID, output any, v uint64) {
	x.check(x.hist.Return(op, output, x.c.Step()))
	x.remember(x.seen.String("return").Int(int(op)).Uint(v))
	r := model.Check(model.Register{}, &x.hist, model.Budget{})
	if r.Verdict == model.Illegal {
		x.c.Fail(&violation{model.Explain(model.Register{}, r, model.Budget{})})
	}
	x.check(r.Why)
}

// remember tells the checker that the history has grown.
func (x *clients) remember(seen fingerprint.Print) {
	x.seen = seen
	x.c.History(seen)
}

func (x *clients) check(err error) {
	if err != nil {
		x.c.Fail(err)
	}
}

type violation struct{ text string }

func (v *violation) Error() string { return v.text }

// Class implements explore.Classed.
func (v *violation) Class() string { return "not-linearizable" }
