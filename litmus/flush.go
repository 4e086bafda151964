package litmus

import "github.com/verbatim-rdma/verbatim/verbs"

// setFlush says what a Flush is to make visible or persistent.
func setFlush(wr *verbs.SendWR, q *request) {
	_ = wr
	_ = q
}
