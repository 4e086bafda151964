package scenario

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/model"
)

// NotLinearizable is the class of a [Recorder]'s violation.
const NotLinearizable = "not-linearizable"

// Recorder records the clients' requests and answers, at the steps of the run, and
// checks after each answer whether a model explains all of them: if not, that is a
// violation of class [NotLinearizable]. Its records are part of what the checks
// remember, and the viewer draws them.
//
// A model that cannot decide within [model.DefaultSteps] leaves the check undecided.
type Recorder struct {
	k       *Kit
	spec    model.Spec
	clients []string
	hist    model.History
	seen    fingerprint.Print // of all calls and returns, in order
}

// Record returns a Recorder with the model that must explain the answers.
func (k *Kit) Record(spec model.Spec) *Recorder {
	r := &Recorder{k: k, spec: spec}
	k.Remember(r.reset, func() fingerprint.Print { return r.seen })
	k.Shows(r.operations)
	return r
}

func (r *Recorder) reset() {
	r.hist.Reset()
	r.seen = fingerprint.Print{}
}

// Client is the source of requests. A host's lives may share one.
type Client struct {
	r  *Recorder
	id int
}

// Client adds a client. Messages number clients from 0, and the viewer shows their
// names.
func (r *Recorder) Client(name string) *Client {
	r.clients = append(r.clients, name)
	return &Client{r, len(r.clients) - 1}
}

// Do records an operation: its input before do starts, and its output when do has
// returned. After an error, which it returns, or a crash, the operation has no answer:
// it may take effect at any later time, or never.
func (c *Client) Do(input any, do func() (output any, err error)) error {
	op := c.Begin(input)
	output, err := do()
	if err == nil {
		op.End(output)
	}
	return err
}

// Op is a started operation.
type Op struct {
	r  *Recorder
	id model.OpID
}

// Begin records that an operation starts. A client may have several in progress.
func (c *Client) Begin(input any) Op {
	r := c.r
	id, err := r.hist.Invoke(c.id, input, r.k.Step())
	r.k.Check(err)
	r.add(r.seen.String("begin").Int(c.id), input)
	return Op{r, id}
}

// End records the answer of an operation, and checks all answers so far. Do not call it
// for an operation without an answer.
func (o Op) End(output any) {
	r := o.r
	r.k.Check(r.hist.Return(o.id, output, r.k.Step()))
	r.add(r.seen.String("end").Int(int(o.id)), output)
	r.check()
}

// add records value, with its fingerprint p, as the latest.
func (r *Recorder) add(p fingerprint.Print, value any) {
	p, err := anyPrint(p, value)
	r.k.Check(err)
	r.seen = p
	r.k.History()
}

func (r *Recorder) check() {
	found := model.Check(r.spec, &r.hist, model.Budget{})
	if found.Verdict == model.Illegal {
		r.k.Failf(NotLinearizable, "%s", model.Explain(r.spec, found, model.Budget{}))
	}
	if found.Verdict == model.Unknown {
		r.k.Fail(fmt.Errorf("%w: %w", explore.ErrUndecided, found.Why))
	}
}

// operations returns the operations of a run, for viewers.
func (r *Recorder) operations() []explore.Operation {
	out := explore.Operations(&r.hist)
	for i, o := range r.hist.Operations() {
		out[i].Client = r.clients[o.ClientId]
	}
	return out
}
