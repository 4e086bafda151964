package verbstest

import "github.com/verbatim-rdma/verbatim/verbs"

// SoftRoCE lists where Linux's rdma_rxe leaves the specification.
func SoftRoCE() []Difference {
	const local = "rdma_rxe has one status for all local errors of a requester"
	out := []Difference{{Case: "error/receive-in-err", Want: verbs.StatusWRFlushErr, Never: true,
		Why: "its library posts receives without a call into the kernel, which flushes only those that it has found"}}
	for _, c := range []string{"error/lkey-write", "error/lkey-send", "error/local-range", "error/local-range-wraps", "error/local-length",
		"memory/dereg-local", "memory/other-pd-local", "state/sqd-holds-requests"} {
		out = append(out, Difference{Case: c, Want: verbs.StatusLocProtErr, Says: verbs.StatusLocQPOpErr, Why: local})
	}
	return out
}
