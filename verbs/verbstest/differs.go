package verbstest

import "github.com/verbatim-rdma/verbatim/verbs"

// SoftRoCE lists where Linux's rdma_rxe deviates from the specification.
func SoftRoCE() []Difference {
	const local = "rdma_rxe has one status for all local errors of a requester"
	out := []Difference{{Case: "error/receive-in-err", Want: verbs.StatusWRFlushErr, Lost: true,
		Why: "its library posts receives without a call into the kernel, which flushes only those that it has found"}}
	out = append(out, Difference{Case: "state/sqd-resumes", Want: verbs.StatusSuccess, Lost: true,
		Why: "what was posted in SQD waits for the next post after the return to RTS"},
		Difference{Case: "state/sqd-resumes", Want: verbs.StatusRemAccessErr, Lost: true, Why: "the same"})
	const short = "a receive that cannot take the Send is a malformed work request to it, not a message that is too long"
	for _, c := range []string{"receive/too-short", "receive/too-short-by-packets"} {
		out = append(out, Difference{Case: c, Want: verbs.StatusRemInvReqErr, Says: verbs.StatusRemOpErr, Why: short},
			Difference{Case: c, Want: verbs.StatusLocLenErr, Says: verbs.StatusLocQPOpErr, Why: short})
	}
	for _, c := range []string{"receive/bad-lkey", "receive/readonly"} {
		out = append(out, Difference{Case: c, Want: verbs.StatusLocProtErr, Says: verbs.StatusLocQPOpErr, Why: local})
	}
	for _, c := range []string{"error/lkey-write", "error/lkey-send", "error/behind-local-error", "memory/dereg-local", "memory/other-pd-local"} {
		out = append(out, Difference{Case: c, Want: verbs.StatusLocProtErr, Says: verbs.StatusLocQPOpErr, Why: local})
	}
	return out
}
