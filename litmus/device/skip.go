package device

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// portable is the test as cards can run it, or the reason why they cannot. A fault
// that may happen is left out; one that must happen is such a reason.
func (r *Rig) portable(t *lang.Test) (*lang.Test, string) {
	x := *t
	x.Threads = append([]lang.Thread(nil), t.Threads...)
	for i := range x.Threads {
		th := &x.Threads[i]
		if th.Recover {
			continue // no host starts again
		}
		th.Body = nil
		for _, s := range t.Threads[i].Body {
			keep, why := r.possible(s, len(t.Hosts))
			if why != "" {
				return nil, why
			}
			if keep {
				th.Body = append(th.Body, s)
			}
		}
	}
	return &x, ""
}

// possible reports whether a statement stays, or why the whole test cannot be run.
func (r *Rig) possible(s lang.Stmt, hosts int) (keep bool, why string) {
	switch s := s.(type) {
	case lang.Maybe:
		keep, why = r.possible(s.Then, hosts)
		return keep && why == "", ""
	case lang.If:
		return r.possible(s.Then, hosts)
	case lang.Fault:
		if s.Kind != faults.Cut && s.Kind != faults.Partition {
			return false, "it needs the fault " + s.Kind.String()
		}
		if r.cfg.Links == nil || hosts > len(r.cfg.Devices) {
			return false, "it cuts a link, and there is nothing here that can"
		}
	case lang.Heal:
		return r.cfg.Links != nil, ""
	case *lang.Post:
		return true, r.lacks(s.Op)
	}
	return true, ""
}

// lacks says which cards do not have an operation; empty: all have it.
func (r *Rig) lacks(op verbs.Opcode) string {
	var names []string
	for _, d := range r.cfg.Devices {
		a := d.Attr()
		if op == verbs.OpFlush && !a.HasFlush || op == verbs.OpAtomicWrite && !a.HasAtomicWrite {
			names = append(names, a.Name)
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) == len(r.cfg.Devices):
		return fmt.Sprintf("the cards do not have %v", op)
	}
	return fmt.Sprintf("%s do not have %v", strings.Join(names, ", "), op)
}
