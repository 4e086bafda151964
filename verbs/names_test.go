package verbs

import (
	"errors"
	"fmt"
	"testing"
)

// ibv_wc_status of libibverbs in order; the values are the positions.
var ibvStatuses = []string{
	"IBV_WC_SUCCESS", "IBV_WC_LOC_LEN_ERR", "IBV_WC_LOC_QP_OP_ERR", "IBV_WC_LOC_EEC_OP_ERR", "IBV_WC_LOC_PROT_ERR",
	"IBV_WC_WR_FLUSH_ERR", "IBV_WC_MW_BIND_ERR", "IBV_WC_BAD_RESP_ERR", "IBV_WC_LOC_ACCESS_ERR",
	"IBV_WC_REM_INV_REQ_ERR", "IBV_WC_REM_ACCESS_ERR", "IBV_WC_REM_OP_ERR", "IBV_WC_RETRY_EXC_ERR",
	"IBV_WC_RNR_RETRY_EXC_ERR", "IBV_WC_LOC_RDD_VIOL_ERR", "IBV_WC_REM_INV_RD_REQ_ERR", "IBV_WC_REM_ABORT_ERR",
	"IBV_WC_INV_EECN_ERR", "IBV_WC_INV_EEC_STATE_ERR", "IBV_WC_FATAL_ERR", "IBV_WC_RESP_TIMEOUT_ERR",
	"IBV_WC_GENERAL_ERR",
}

// The constants in the same order, to detect one in the wrong place.
var statuses = []Status{
	StatusSuccess, StatusLocLenErr, StatusLocQPOpErr, StatusLocEECOpErr, StatusLocProtErr, StatusWRFlushErr,
	StatusMWBindErr, StatusBadRespErr, StatusLocAccessErr, StatusRemInvReqErr, StatusRemAccessErr, StatusRemOpErr,
	StatusRetryExcErr, StatusRNRRetryExcErr, StatusLocRDDViolErr, StatusRemInvRDReqErr, StatusRemAbortErr,
	StatusInvEECNErr, StatusInvEECStateErr, StatusFatalErr, StatusRespTimeoutErr, StatusGeneralErr,
}

func TestStatusNames(t *testing.T) {
	if len(statuses) != len(ibvStatuses) {
		t.Fatalf("%d constants for %d codes", len(statuses), len(ibvStatuses))
	}
	for i, s := range statuses {
		if int(s) != i || "IBV_WC_"+s.String() != ibvStatuses[i] {
			t.Errorf("code %d is %v with value %d, want %s", i, s, int(s), ibvStatuses[i])
		}
	}
	// A vendor's code beyond the list prints as its number.
	if got := Status(len(statuses)).String(); got != fmt.Sprintf("Status(%d)", len(statuses)) {
		t.Errorf("the code after the last prints as %q", got)
	}
}

// The operations: the name here, the name in libibverbs, what kind of
// completion it makes (ibv_wc_opcode), and how it behaves.
var opcodes = []struct {
	op             Opcode
	name, ibv      string
	wc             WCOpcode
	wcName, ibvWC  string
	atomic, usesRR bool
}{
	{OpWrite, "Write", "IBV_WR_RDMA_WRITE", WCWrite, "Write", "IBV_WC_RDMA_WRITE", false, false},
	{OpWriteImm, "WriteImm", "IBV_WR_RDMA_WRITE_WITH_IMM", WCWrite, "Write", "IBV_WC_RDMA_WRITE", false, true},
	{OpRead, "Read", "IBV_WR_RDMA_READ", WCRead, "Read", "IBV_WC_RDMA_READ", false, false},
	{OpSend, "Send", "IBV_WR_SEND", WCSend, "Send", "IBV_WC_SEND", false, true},
	{OpSendImm, "SendImm", "IBV_WR_SEND_WITH_IMM", WCSend, "Send", "IBV_WC_SEND", false, true},
	{OpCompareSwap, "CompareSwap", "IBV_WR_ATOMIC_CMP_AND_SWP", WCCompareSwap, "CompareSwap", "IBV_WC_COMP_SWAP", true, false},
	{OpFetchAdd, "FetchAdd", "IBV_WR_ATOMIC_FETCH_AND_ADD", WCFetchAdd, "FetchAdd", "IBV_WC_FETCH_ADD", true, false},
	{OpFlush, "Flush", "IBV_WR_FLUSH", WCFlush, "Flush", "IBV_WC_FLUSH", false, false},
	{OpAtomicWrite, "AtomicWrite", "IBV_WR_ATOMIC_WRITE", WCAtomicWrite, "AtomicWrite", "IBV_WC_ATOMIC_WRITE", false, false},
}

func TestOpcodes(t *testing.T) {
	known := map[Opcode]bool{}
	for _, o := range opcodes {
		known[o.op] = true
		if got := o.op.String(); got != o.name {
			t.Errorf("%s is called %q, want %q", o.ibv, got, o.name)
		}
		if got := o.op.Completion(); got != o.wc || got.String() != o.wcName {
			t.Errorf("%s completes as %v, want %s", o.ibv, got, o.ibvWC)
		}
		if o.op.IsAtomic() != o.atomic || o.op.ConsumesRecv() != o.usesRR {
			t.Errorf("%s: IsAtomic %v, ConsumesRecv %v", o.ibv, o.op.IsAtomic(), o.op.ConsumesRecv())
		}
	}
	for i := range 256 {
		op := Opcode(i)
		if op.Valid() != known[op] {
			t.Errorf("%v.Valid() is %v", op, op.Valid())
		}
		if known[op] {
			continue
		}
		if want := fmt.Sprintf("Opcode(%d)", i); op.String() != want || op.Completion() != 0 {
			t.Errorf("unknown code %d: %q, completes as %v", i, op.String(), op.Completion())
		}
	}
}

func TestReceiveCompletionNames(t *testing.T) {
	for op, want := range map[WCOpcode]string{
		WCRecv: "Recv", WCRecvWriteImm: "RecvWriteImm", 0: "WCOpcode(0)", 99: "WCOpcode(99)",
	} {
		if got := op.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLength(t *testing.T) {
	const most = 1<<32 - 1
	for _, tt := range []struct {
		sgl  []SGE
		want int
	}{
		{nil, 0}, {[]SGE{{}}, 0}, {[]SGE{{Length: 5}}, 5}, {[]SGE{{Length: 5}, {Length: 0}, {Length: 7}}, 12},
		{[]SGE{{Length: most}, {Length: most}}, 2 * most}, // more than 32 bits hold
	} {
		if got := (&SendWR{SGL: tt.sgl}).Length(); got != tt.want {
			t.Errorf("SendWR with %v: length %d, want %d", tt.sgl, got, tt.want)
		}
		if got := (&RecvWR{SGL: tt.sgl}).Length(); got != tt.want {
			t.Errorf("RecvWR with %v: length %d, want %d", tt.sgl, got, tt.want)
		}
	}
}

func TestCompletionError(t *testing.T) {
	if err := (&WC{ID: 1, QPNum: 2}).Err(); err != nil {
		t.Errorf("a success is the error %v", err)
	}
	for _, s := range statuses[1:] {
		err := (&WC{ID: 7, QPNum: 9, Status: s}).Err()
		var ce *CompletionError
		if !errors.Is(err, ErrCompletion) || !errors.As(err, &ce) || *ce != (CompletionError{7, s, 9}) {
			t.Errorf("%v gives %#v", s, err)
		}
		if want := fmt.Sprintf("verbs: work request 7 on QP 9 completed with %v", s); err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestPostError(t *testing.T) {
	err := error(&PostError{Index: 3, Err: fmt.Errorf("%w: 64 requests are posted", ErrQueueFull)})
	if !errors.Is(err, ErrQueueFull) {
		t.Errorf("%v does not wrap its cause", err)
	}
	if want := "verbs: work request 3 of the batch refused: verbs: work queue full: 64 requests are posted"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// Posting and polling allocate nothing; neither may these.
func TestHelpersDoNotAllocate(t *testing.T) {
	wr := SendWR{Op: OpWrite, SGL: []SGE{{Length: 8}, {Length: 8}}}
	wc := WC{ID: 1}
	n := testing.AllocsPerRun(100, func() {
		if wr.Length() != 16 || wc.Err() != nil || wr.Op.Completion() != WCWrite || wr.Op.String() != "Write" {
			t.Error("wrong")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
