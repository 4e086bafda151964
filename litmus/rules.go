package litmus

// Says is how well a rule is supported, as in the notes on RDMA semantics.
type Says string

// The kinds of support.
const (
	Spec      Says = "spec"      // the InfiniBand specification or the man pages
	Seen      Says = "seen"      // measured, or read in published code
	DeFacto   Says = "de facto"  // true on common hardware, promised by no specification
	Contested Says = "contested" // sources disagree
)

// Rule is one rule of the simulator's semantics. The field rule of a test lists the
// rules that it pins.
type Rule struct {
	ID     string // as tests name it
	Part   string // its topic
	Text   string
	Knob   string // of the profile that controls it; empty: it always holds
	Says   Says
	Source string
}

const (
	partOrder      = "Order of requests on one queue pair"
	partCompletion = "What a completion means"
	partPlacement  = "Placement and tearing"
	partAtomics    = "Atomics"
	partStates     = "States, errors, revocation"
	partCPU        = "CPUs"
	partPMEM       = "Persistent memory"
	partFlush      = "Flush and Atomic Write"
)

const table79 = "IBA vol. 1, table 79; notes 1"

// Rules are the rules of the semantics, in the order of docs/semantics.md.
var Rules = []Rule{
	{"placement-order", partOrder, "the Writes of a queue pair reach memory in post order", "Placement", DeFacto, "notes 3: strongly ordered cards"},
	{"read-after-write", partOrder, "a Read executes after all earlier Writes are placed", "", Spec, table79},
	{"read-after-read", partOrder, "Reads of a queue pair are executed in order", "", Spec, table79},
	{"read-may-be-passed", partOrder, "a Send, Write or Atomic may take effect before an earlier Read", "", Spec, table79},
	{"fence-waits-for-reads", partOrder, "a fenced request waits for earlier Reads and Atomics", "", Spec, table79},
	{"fence-waits-for-all", partOrder, "a fenced request waits until all earlier work is done and its data placed", "FenceWaitsAll", Seen, "notes 1: rxe"},
	{"atomic-after-writes", partOrder, "an Atomic takes effect after earlier Writes", "AtomicFlushes", Spec, "notes 1; contested under relaxed ordering"},
	{"write-after-atomic", partOrder, "a later Write does not pass an Atomic", "AtomicOrdersLater", Contested, "notes 1"},
	{"read-after-atomic", partOrder, "a Read is executed after earlier Atomics", "", Spec, table79},
	{"atomic-after-atomic", partOrder, "Atomics of a queue pair are executed in order", "", Spec, "notes 1: executed in the order received"},
	{"no-order-across-qps", partOrder, "requests on different queue pairs are unordered", "", Spec, "notes 1"},
	{"completions-in-order", partOrder, "completions are reported in post order", "", Spec, "notes 1"},
	{"source-read-late", partOrder, "the card fetches the data of a request that is not inline when it processes the request", "", Spec, "notes 1"},
	{"inline-snapshot", partOrder, "an inline request copies its data when it is posted", "", Spec, "notes 1"},
	{"outstanding-reads-stall", partOrder, "with max_rd_atomic Reads and Atomics outstanding, the next one stalls, and all requests behind it", "MaxRdAtomic", Spec, "notes 5"},

	{"write-completion-is-not-placement", partCompletion, "a Write's completion does not imply placement", "", Spec, "notes 2"},
	{"completion-frees-source", partCompletion, "after the completion, the source buffer may be reused", "", Spec, "notes 2"},
	{"completion-covers-unsignaled", partCompletion, "a completion implies that all earlier unsignaled requests are done", "", Spec, "notes 2"},
	{"response-is-local", partCompletion, "once a Read or Atomic completes, its response is in local memory", "", Spec, "notes 2"},
	{"response-may-be-early", partCompletion, "the response to a Read or Atomic may be in local memory before its completion is polled", "", Spec, "notes 2"},
	{"recv-completion-visibility", partCompletion, "after a receive completion, even with an error other than WR_FLUSH_ERR, all earlier transfers of the connection are visible", "", Spec, "notes 2"},
	{"recv-completion-spares-reads", partCompletion, "a receive completion does not imply that earlier Reads are finished", "", Spec, "notes 2"},
	{"completed-stays", partCompletion, "when a queue pair goes to ERR, completions already in the CQ stay there; only the other requests are flushed", "", Spec, "IBA vol. 1, on completions; man ibv_modify_qp"},
	{"recv-completes-if-acknowledged", partCompletion, "if a Send was acknowledged, its receive completes with success, even if the queue pair has gone to ERR since", "", Spec, "IBA vol. 1, on completions"},
	{"recv-completion-content", partCompletion, "the completion of a Write with immediate carries its length and immediate value", "", Spec, "notes 2"},
	{"reads-see-acknowledged", partCompletion, "a Read sees what its card acknowledged before it was posted, on any queue pair", "ReadsSeeAcked", DeFacto, "PCIe: a read pushes posted writes"},

	{"send-lands-like-write", partPlacement, "the payload of a Send may appear in the receive buffer before the receive completes, in parts, like a Write", "", Spec, "IBA vol. 1, on receive buffers"},
	{"message-order", partPlacement, "the bytes of one message are placed in order of increasing address", "Placement", DeFacto, "notes 3"},
	{"block-order", partPlacement, "the bytes within an aligned 128-byte block of one message are placed in order of increasing address", "Placement", Spec, "man ibv_query_qp_data_in_order"},
	{"cell-atomicity", partPlacement, "an aligned 8-byte word is never torn; anything larger may be", "CellBytes", DeFacto, "notes 3"},
	{"failed-write-is-ambiguous", partPlacement, "a failed Write may have executed completely, partially or not at all", "", Seen, "notes 5: of 100 Writes cut off 52 were partial"},
	{"failed-write-packets", partPlacement, "a failed Write leaves a prefix of whole packets", "WholePackets", DeFacto, "notes 3"},
	{"failed-write-bytes", partPlacement, "a failed Write leaves any subset of its bytes", "FailedCellBytes", Spec, "notes 3: no rollback and no granularity"},

	{"atomic-aligned", partAtomics, "the address of an Atomic must be a multiple of 8", "", Spec, "notes 4"},
	{"atomic-hca", partAtomics, "Atomics of one card are atomic with respect to each other, across queue pairs", "", Spec, "notes 4: ATOMIC_HCA"},
	{"atomic-glob", partAtomics, "Atomics are atomic with respect to CPUs as well", "AtomicGlob", Spec, "notes 4: ATOMIC_GLOB"},
	{"atomic-mixed-with-write", partAtomics, "an Atomic and a Write to the same word have no guaranteed result", "", Spec, "notes 4"},
	{"atomic-replay", partAtomics, "an Atomic whose acknowledgement is lost does not execute twice", "", Spec, "notes 4: the saved result"},
	{"atomic-again", partAtomics, "an Atomic that is posted again on a new queue pair executes again", "", Spec, "notes 4"},

	{"reset-is-silent", partStates, "a queue pair in RESET or INIT drops incoming packets, and the requester exhausts its retries", "", Spec, "notes 5"},
	{"reset-wipes-queues", partStates, "RESET wipes queued requests and completions; so does destroying the queue pair", "", Spec, "notes 5"},
	{"error-flushes-queue", partStates, "after the first error, all queued requests complete with WR_FLUSH_ERR", "", Spec, "notes 5"},
	{"flushed-is-not-executed", partStates, "requests behind a refused one are not executed", "", Spec, "notes 5"},
	{"revocation-spares-later", partStates, "a revocation may refuse a Read or Atomic that was already accepted, although a later Write was executed; where packets may overtake each other, it may also refuse a Write", "WholePackets", Seen, "rxe of Linux 6.1: in 1 of 500 runs of `read-refused-late`; IBA table 79"},
	{"error-drops-incoming", partStates, "a queue pair in ERR drops incoming packets", "", Spec, "notes 5"},
	{"qp-access-flags", partStates, "a request that the queue pair's access flags forbid is refused with REM_INV_REQ_ERR", "", Spec, "notes 5"},
	{"mr-access", partStates, "a request with a bad key, range or registration is refused with REM_ACCESS_ERR, and the responder's queue pair fails too", "", Spec, "notes 5"},
	{"access-checked-per-packet", partStates, "access is checked for each packet: a prefix of a message may be executed", "", Spec, "notes 5"},
	{"local-protection", partStates, "a bad local key or range fails with LOC_PROT_ERR and nothing is sent", "", Spec, "man ibv_post_send"},
	{"retry-exhausted", partStates, "a request to a peer that is down, destroyed or cut off completes with RETRY_EXC_ERR", "", Spec, "notes 5"},
	{"rnr", partStates, "a Send without a posted receive waits forever if the RNR retry count is 7; otherwise it may fail with RNR_RETRY_EXC_ERR", "", Spec, "notes 5"},
	{"recv-length", partStates, "a Send longer than its receive buffer fails on both sides", "", Spec, "IBA vol. 1, on the errors of a responder"},
	{"error-always-completes", partStates, "an unsignaled request that fails generates a completion", "", Spec, "notes 5"},
	{"slots-are-freed-by-polling", partStates, "a send queue slot is freed only when the completion of this or a later request is polled", "", Spec, "notes 5"},
	{"receive-slots-are-freed-by-polling", partStates, "a receive queue slot is freed when the completion of its receive is polled", "", Seen, "libibverbs' providers; man ibv_post_recv"},
	{"drain-on-revoke", partStates, "when modify_qp (to ERR or RESET, or of access flags), destroy_qp or dereg_mr returns, or an error takes a queue pair to ERR, everything that the card had accepted on that queue pair, or for that registration, is in memory", "DrainOnRevoke", DeFacto, "notes 5"},
	{"old-packets", partStates, "a connection that reuses sequence numbers may accept a packet of the old connection", "", Seen, "notes 5"},
	{"zombie-writes", partStates, "a requester that is presumed dead keeps writing until the responder revokes its access", "", Seen, "notes 5"},

	{"store-buffer", partCPU, "a CPU's load may overtake its earlier store to another location", "StoreBuffers", Spec, "notes 6: x86-TSO"},
	{"stores-in-order", partCPU, "a CPU's stores become visible in order", "", Spec, "notes 6: x86-TSO"},
	{"fence-drains", partCPU, "a fence or a locked instruction drains the store buffer", "", Spec, "notes 6: x86-TSO"},
	{"doorbell-drains", partCPU, "the card sees every store that the CPU made before posting the request", "", Spec, "man ibv_post_send; the doorbell is a later store"},

	{"cache-write-back-order", partPMEM, "cache lines are written back at any time and in any order", "Domain", Spec, "notes 6"},
	{"flush-and-fence-persist", partPMEM, "a line that was flushed before a fence is persistent after the fence", "", Spec, "notes 6"},
	{"flush-needs-fence", partPMEM, "a line that was flushed without a fence may be lost", "Domain", Spec, "notes 6"},
	{"persist-atomicity", partPMEM, "8 aligned bytes persist together or not at all", "", Spec, "notes 6"},
	{"torn-line", partPMEM, "a cache line may persist in part", "TornLines", DeFacto, "notes 6"},
	{"domain-volatile", partPMEM, "nothing survives a power failure", "Domain", Spec, "notes 6"},
	{"domain-eadr", partPMEM, "CPU caches survive a power failure; store buffers do not", "Domain", Spec, "notes 6"},
	{"domain-battery", partPMEM, "all memory survives a power failure", "Domain", Spec, "notes 6"},
	{"ddio-is-volatile", partPMEM, "with DDIO, data that a card has placed is in a CPU cache", "DDIO", Seen, "notes 2 and 6"},
	{"ddio-off-reaches-the-controller", partPMEM, "without DDIO, data that a card has placed is persistent", "DDIO", Seen, "notes 6"},
	{"crash-keeps-pmem", partPMEM, "a process crash loses no persistent memory, cached or not", "", Spec, "notes 6"},
	{"media-flip", partPMEM, "a media error flips bits of persistent memory", "", Seen, "notes 6"},
	{"media-unreadable", partPMEM, "a media error makes persistent memory unreadable until it is rewritten", "", Seen, "notes 6"},

	{"flush-persists", partFlush, "when a Flush to persistence completes, everything before it is persistent", "", Spec, "IBTA 1.5, memory placement extensions; notes 2"},
	{"flush-to-visibility", partFlush, "a Flush to global visibility does not make data persistent", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"flush-range", partFlush, "a Flush covers its range, or the whole region if it requests that", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"atomic-write-after-flush", partFlush, "an Atomic Write is executed after earlier Flushes", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"flush-may-be-passed", partFlush, "a later Write may pass a Flush, unless it is fenced", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"atomic-write-is-whole", partFlush, "an Atomic Write places 8 aligned bytes at once, and does so when it completes", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"flush-needs-access", partFlush, "the region and the queue pair must both grant the access that a Flush requests", "", Spec, "IBTA 1.5; man ibv_reg_mr"},
}
