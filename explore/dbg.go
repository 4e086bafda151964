package explore

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

type dbgPol struct {
	c    *Case
	seen map[uint64]int
}

func (d *dbgPol) Pick(evs []sim.Event) int {
	fp := d.c.w.Fingerprint(nil)
	n := ""
	for i := range evs {
		n += d.c.w.EventName(&evs[i]) + " "
	}
	fmt.Println(d.c.w.Steps(), fmt.Sprintf("%x", fp), d.seen[fp], n)
	d.seen[fp] = d.c.w.Steps()
	return 0
}
func (d *dbgPol) Choose(sim.ChoiceKind, int) int { return 0 }

func Dbg(s *Scenario) {
	var o Options
	p, b, _ := o.resolve(s)
	c, _ := newCase(s, p, b, false)
	fmt.Println(c.w.Run(&dbgPol{c, map[uint64]int{}}))
}
