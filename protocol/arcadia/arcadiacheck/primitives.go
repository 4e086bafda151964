package arcadiacheck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Mixed is the class of a value that was never written, and Lost that of a durable value that is missing.
const (
	Mixed = "never-written"
	Lost  = "lost-durable-value"
)

// value is a primitive that holds one value at a time.
type value interface {
	write(data []byte) error
	read() ([]byte, error)
}

type reliable struct{ arcadia.Reliable }

func (r reliable) write(data []byte) error { return r.Write(1, data) }
func (r reliable) read() ([]byte, error) {
	_, data, err := r.Read()
	return data, err
}

type atomic struct{ arcadia.Atomic }

func (a atomic) write(data []byte) error { return a.Write(data) }
func (a atomic) read() ([]byte, error)   { return a.Read() }

// values are the values to write, in this order; they differ in every word.
var values = [][]byte{[]byte("aaaaaaaaAAAAAAAA"), []byte("bbbbbbbbBBBBBBBB"), []byte("ccccccccCCCCCCCC")}

// primitives returns the scenarios of single primitives, on local memory.
func primitives() []*explore.Scenario {
	integrity := func(m arcadia.Store) value { return reliable{arcadia.Reliable{Mem: m, Max: 16}} }
	atomicity := func(m arcadia.Store) value { return atomic{arcadia.Atomic{Mem: m, Len: 16}} }
	return []*explore.Scenario{
		primitive("integrity", "the integrity primitive: a value is written and overwritten; a reader finds a whole value, or detects damage",
			"crash(app)<=1, power(app)<=1", 2, false, integrity, sawNew, sawDetected),
		primitive("integrity-media", "the same, with damaged memory: a damaged value is never read as valid",
			"power(app)<=1, flip(app)<=1, poison(app)<=1", 2, false, integrity, sawDetected),
		primitive("atomicity", "the atomicity primitive: a value is replaced, also in a second life; a reader finds the old one or the new one",
			"crash(app)<=1, power(app)<=1", 3, true, atomicity, sawOld, sawNew),
		primitive("atomicity-media", "the same, with damaged memory: a damaged value is never read as valid",
			"power(app)<=1, flip(app)<=1, poison(app)<=1", 2, false, atomicity, sawDetected),
		stray("integrity-stray", integrity), stray("atomicity-stray", atomicity),
	}
}

// progress is the memory of the checks: how many values are durable, and whether the next is being written.
type progress struct {
	durable int
	writing bool
	before  int // the number of last values that may not be durable: their writes were interrupted
}

// primitive writes values in all lives but the last, which reads. Each life continues after the last value that may be
// durable. always: either the last durable value or the next one can be read.
func primitive(name, doc, budget string, n int, always bool, make func(arcadia.Store) value, meets ...string) *explore.Scenario {
	return &explore.Scenario{
		Name: "arcadia/" + name, Doc: doc, Profile: "strong", Faults: budget, Bounds: fmt.Sprintf("%d values of 16 bytes, %d lives", len(values), n), Sometimes: meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			lives, p := k.Lives(n, nil), scenario.Memory[progress](k)
			return k.World(lives.Node("app", func(h host.Host, life int) {
				region, err := h.OpenPMEM("value", 128)
				if !k.Check(err) {
					return
				}
				v := make(arcadia.Local{Region: region})
				if lives.Last(life) {
					k.Look()
					check(k, p, v, always || !p.writing && !damages(k.Budget))
					return
				}
				k.Look()
				if p.writing { // the value may be present
					p.durable, p.before, p.writing = p.durable+1, p.before+1, false
					k.History()
				}
				for _, data := range values[p.durable:] {
					p.writing = true
					k.History()
					if err := v.write(data); errors.Is(err, arcadia.ErrCorrupt) {
						return // the memory was damaged before
					} else if !k.Check(err) {
						return
					}
					p.durable, p.writing, p.before = p.durable+1, false, 0
					k.History()
				}
			})), nil
		},
	}
}

// stray returns a scenario in which software stores a wrong word anywhere. The value is then damaged, or is the last one.
func stray(name string, make func(arcadia.Store) value) *explore.Scenario {
	return &explore.Scenario{
		Name: "arcadia/" + name, Doc: "the primitive, and a stray store of any of four words anywhere in its memory: a damaged value is never read as valid", Profile: "strong",
		Faults: "none", Bounds: "2 values of 16 bytes, 1 stray store", Sometimes: []string{sawNew, sawDetected},
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			return k.World(k.Host("app", func(h host.Host) error {
				region, err := h.OpenPMEM("value", 64)
				if err != nil {
					return err
				}
				v := make(arcadia.Local{Region: region})
				for _, data := range values[:2] {
					if err := v.write(data); err != nil {
						return err
					}
				}
				scribble(h, region)
				data, err := v.read()
				switch {
				case errors.Is(err, arcadia.ErrCorrupt):
					k.Meet(sawDetected)
				case err != nil:
					return err
				case string(data) == string(values[1]):
					k.Meet(sawNew)
				default:
					return scenario.Failed(Mixed, "%q was read, but %q was written last", data, values[1])
				}
				return nil
			})), nil
		},
	}
}

// scribble stores a wrong word anywhere in a region: zeros, a one, all ones, or a copy of the word before it.
func scribble(h host.Host, region host.Region) {
	at := 8 * h.Rand(region.Len()/8)
	words := [...]uint64{0, 1, ^uint64(0), region.Load64(max(at-8, 0))}
	region.Store64(at, words[h.Rand(len(words))])
}

// damages reports whether persistent memory may be damaged. Otherwise a value whose write has returned can be read.
func damages(b faults.Budget) bool {
	return slices.ContainsFunc(b, func(r faults.Rule) bool { return r.Kind == faults.Flip || r.Kind == faults.Poison })
}

// check reads, and checks the result against the promise.
func check(k *scenario.Kit, p *progress, v value, always bool) {
	data, err := v.read()
	k.Look()
	at := slices.IndexFunc(values, func(x []byte) bool { return string(x) == string(data) })
	switch {
	case err != nil && !errors.Is(err, arcadia.ErrCorrupt):
		k.Fail(err)
	case err != nil && always && p.durable > p.before:
		k.Failf(Lost, "value %d was durable: %v", p.durable, err)
	case err != nil:
		k.Meet(sawDetected)
	case at < 0:
		k.Failf(Mixed, "%q was read, but it was never written", data)
	case at < p.durable-p.before-1:
		k.Failf(Lost, "value %d was durable, but value %d was read", p.durable, at+1)
	case at == p.durable && p.writing:
		k.Meet(sawNew)
	case p.writing:
		k.Meet(sawOld)
	}
}
