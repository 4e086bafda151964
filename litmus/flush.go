package litmus

import (
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// setFlush says what a Flush is to make visible or persistent, and of what.
func setFlush(wr *verbs.SendWR, s *lang.Post, n int) {
	wr.FlushTo, wr.FlushLen, wr.FlushMR = verbs.FlushPersistent, uint32(n), s.WholeMR
	switch s.Scope {
	case "global":
		wr.FlushTo = verbs.FlushGlobal
	case "both":
		wr.FlushTo = verbs.FlushGlobal | verbs.FlushPersistent
	}
}
