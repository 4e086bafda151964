package litmus

// Says is the kind of evidence for a rule, as in the notes on RDMA semantics.
type Says string

// The kinds of evidence.
const (
	Spec      Says = "spec"      // the InfiniBand specification or the man pages
	Seen      Says = "seen"      // measured, or published code
	DeFacto   Says = "de facto"  // true on the hardware that people use, but promised by nobody
	Contested Says = "contested" // sources disagree
)

// Rule is one rule of the simulator's semantics. The field rule of a test names the
// rules that it tests.
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
	{"read-after-write", partOrder, "a Read returns after the Writes before it are placed", "", Spec, table79},
	{"read-after-read", partOrder, "Reads of a queue pair are executed in order", "", Spec, table79},
	{"read-may-be-passed", partOrder, "a Send, Write or Atomic may take effect before an earlier Read", "", Spec, table79},
	{"fence-waits-for-reads", partOrder, "a fenced request waits for earlier Reads and Atomics", "", Spec, table79},
	{"fence-waits-for-all", partOrder, "a fenced request waits for all earlier work", "FenceWaitsAll", Seen, "notes 1: rxe"},
	{"atomic-after-writes", partOrder, "an Atomic takes effect after earlier Writes", "AtomicFlushes", Spec, "notes 1; contested under relaxed ordering"},
	{"write-after-atomic", partOrder, "a later Write does not pass an Atomic", "AtomicOrdersLater", Contested, "notes 1"},
	{"read-after-atomic", partOrder, "a Read is executed after earlier Atomics", "", Spec, table79},
	{"atomic-after-atomic", partOrder, "Atomics of a queue pair are executed in order", "", Spec, "notes 1: executed in the order received"},
	{"no-order-across-qps", partOrder, "requests on two queue pairs are in no order", "", Spec, "notes 1"},
	{"completions-in-order", partOrder, "completions are reported in post order", "", Spec, "notes 1"},
	{"source-read-late", partOrder, "a request that is not inline takes its data when the card gets to it", "", Spec, "notes 1"},
	{"inline-snapshot", partOrder, "an inline request takes its data when it is posted", "", Spec, "notes 1"},
	{"outstanding-reads-stall", partOrder, "with max_rd_atomic Reads and Atomics outstanding, the next one and all behind it wait", "MaxRdAtomic", Spec, "notes 5"},

	{"write-completion-is-not-placement", partCompletion, "a Write's completion does not say that it is placed", "", Spec, "notes 2"},
	{"completion-frees-source", partCompletion, "after the completion the source may be reused", "", Spec, "notes 2"},
	{"completion-covers-unsignaled", partCompletion, "a completion says that the unsignaled requests before it are done", "", Spec, "notes 2"},
	{"response-is-local", partCompletion, "after a Read's or Atomic's completion the response is in local memory", "", Spec, "notes 2"},
	{"response-may-be-early", partCompletion, "a Read's or Atomic's response may be in local memory before its completion is polled", "", Spec, "notes 2"},
	{"recv-completion-visibility", partCompletion, "after a receive completion all earlier transfers of the connection are visible", "", Spec, "notes 2"},
	{"recv-completion-spares-reads", partCompletion, "a receive completion does not say that earlier Reads are finished", "", Spec, "notes 2"},
	{"completed-stays", partCompletion, "what has completed when its queue pair goes to ERR stays in the CQ: only the rest is flushed", "", Spec, "IBA vol. 1, on completions; man ibv_modify_qp"},
	{"recv-completes-if-acknowledged", partCompletion, "a receive whose Send was acknowledged completes with it, also if its queue pair has gone to ERR since", "", Spec, "IBA vol. 1, on completions"},
	{"recv-completion-content", partCompletion, "the completion of a Write with immediate carries length and immediate value", "", Spec, "notes 2"},
	{"reads-see-acknowledged", partCompletion, "a Read sees what its card acknowledged before it was posted, on any queue pair", "ReadsSeeAcked", DeFacto, "PCIe: a read pushes posted writes"},

	{"send-lands-like-write", partPlacement, "what a Send brings may be in the memory of its receive before that completes, in parts as of a Write", "", Spec, "IBA vol. 1, on receive buffers"},
	{"message-order", partPlacement, "the bytes of one message are placed at increasing addresses", "Placement", DeFacto, "notes 3"},
	{"block-order", partPlacement, "inside an aligned block of 128 bytes of one message they are", "Placement", Spec, "man ibv_query_qp_data_in_order"},
	{"cell-atomicity", partPlacement, "8 aligned bytes are never torn, more may be", "CellBytes", DeFacto, "notes 3"},
	{"failed-write-is-ambiguous", partPlacement, "a Write that failed may have executed wholly, in part or not at all", "", Seen, "notes 5: of 100 Writes cut off 52 were partial"},
	{"failed-write-packets", partPlacement, "what a failed Write leaves is whole packets, the first ones", "WholePackets", DeFacto, "notes 3"},
	{"failed-write-bytes", partPlacement, "what a failed Write leaves is any bytes of it", "FailedCellBytes", Spec, "notes 3: no rollback and no granularity"},

	{"atomic-aligned", partAtomics, "an Atomic needs an address that 8 divides", "", Spec, "notes 4"},
	{"atomic-hca", partAtomics, "Atomics of one card are atomic against each other, on all queue pairs", "", Spec, "notes 4: ATOMIC_HCA"},
	{"atomic-glob", partAtomics, "and against CPUs", "AtomicGlob", Spec, "notes 4: ATOMIC_GLOB"},
	{"atomic-mixed-with-write", partAtomics, "nothing is promised of an Atomic and a Write to the same word", "", Spec, "notes 4"},
	{"atomic-replay", partAtomics, "a lost acknowledgement does not execute an Atomic twice", "", Spec, "notes 4: the saved result"},
	{"atomic-again", partAtomics, "an Atomic posted again on a new queue pair executes again", "", Spec, "notes 4"},

	{"reset-is-silent", partStates, "what comes to a queue pair in RESET or INIT is dropped, and the requester gives up", "", Spec, "notes 5"},
	{"reset-wipes-queues", partStates, "RESET wipes queued requests and completions", "", Spec, "notes 5"},
	{"error-flushes-queue", partStates, "after the first error all that is queued completes with WR_FLUSH_ERR", "", Spec, "notes 5"},
	{"flushed-is-not-executed", partStates, "what comes behind a refused request is not executed", "", Spec, "notes 5"},
	{"revocation-spares-later", partStates, "a Read or Atomic that was taken may be refused because of a revocation although a Write behind it was executed; where packets overtake each other, a Write as well", "WholePackets", Seen, "rxe of Linux 6.1: in 1 of 500 runs of `read-refused-late`; IBA table 79"},
	{"error-drops-incoming", partStates, "a queue pair in ERR drops what comes in", "", Spec, "notes 5"},
	{"qp-access-flags", partStates, "what the queue pair's access flags forbid is refused with REM_INV_REQ_ERR", "", Spec, "notes 5"},
	{"mr-access", partStates, "a bad key, range or registration is refused with REM_ACCESS_ERR, and the responder fails too", "", Spec, "notes 5"},
	{"access-checked-per-packet", partStates, "each packet is checked on its own: a prefix of a message may be executed", "", Spec, "notes 5"},
	{"local-protection", partStates, "a bad local key or range fails with LOC_PROT_ERR and nothing is sent", "", Spec, "man ibv_post_send"},
	{"retry-exhausted", partStates, "a peer that is gone, down or cut off: RETRY_EXC_ERR", "", Spec, "notes 5"},
	{"rnr", partStates, "a Send without a receive waits for ever if RNR retry is 7, and else may fail with RNR_RETRY_EXC_ERR", "", Spec, "notes 5"},
	{"recv-length", partStates, "a Send that is longer than its receive fails on both sides", "", Spec, "IBA vol. 1, on the errors of a responder"},
	{"error-always-completes", partStates, "an unsignaled request that fails makes a completion", "", Spec, "notes 5"},
	{"slots-are-freed-by-polling", partStates, "a slot of the send queue is freed only by polling a later completion", "", Spec, "notes 5"},
	{"receive-slots-are-freed-by-polling", partStates, "a slot of the receive queue is freed by polling the completion of its receive", "", Seen, "libibverbs' providers; man ibv_post_recv"},
	{"drain-on-revoke", partStates, "when modify_qp(ERR) or dereg_mr returns, what the card accepted is in memory", "DrainOnRevoke", DeFacto, "notes 5"},
	{"old-packets", partStates, "a connection that reuses sequence numbers may accept a packet of the old one", "", Seen, "notes 5"},
	{"zombie-writes", partStates, "a requester that is believed dead goes on writing until the responder stops it", "", Seen, "notes 5"},

	{"store-buffer", partCPU, "a CPU's load may pass its earlier store to another location", "StoreBuffers", Spec, "notes 6: x86-TSO"},
	{"stores-in-order", partCPU, "a CPU's stores become visible in order", "", Spec, "notes 6: x86-TSO"},
	{"fence-drains", partCPU, "a fence or a locked instruction drains the store buffer", "", Spec, "notes 6: x86-TSO"},
	{"doorbell-drains", partCPU, "what a CPU stored before it posts a request, the card finds", "", Spec, "man ibv_post_send; the doorbell is a later store"},

	{"cache-write-back-order", partPMEM, "cache lines are written back at any time and in any order", "Domain", Spec, "notes 6"},
	{"flush-and-fence-persist", partPMEM, "what was flushed before a fence is persistent after it", "", Spec, "notes 6"},
	{"flush-needs-fence", partPMEM, "what was flushed without a fence may be lost", "Domain", Spec, "notes 6"},
	{"persist-atomicity", partPMEM, "8 aligned bytes persist or do not", "", Spec, "notes 6"},
	{"torn-line", partPMEM, "a cache line may persist in part", "TornLines", DeFacto, "notes 6"},
	{"domain-volatile", partPMEM, "nothing survives a power failure", "Domain", Spec, "notes 6"},
	{"domain-eadr", partPMEM, "caches survive a power failure, store buffers do not", "Domain", Spec, "notes 6"},
	{"domain-battery", partPMEM, "all of memory survives a power failure", "Domain", Spec, "notes 6"},
	{"ddio-is-volatile", partPMEM, "with DDIO, what a card places is in a cache", "DDIO", Seen, "notes 2 and 6"},
	{"ddio-off-reaches-the-controller", partPMEM, "without DDIO, what a card has placed is persistent", "DDIO", Seen, "notes 6"},
	{"crash-keeps-pmem", partPMEM, "a crash of the process loses nothing of persistent memory, cached or not", "", Spec, "notes 6"},
	{"media-flip", partPMEM, "a media error flips bits of persistent memory", "", Seen, "notes 6"},
	{"media-unreadable", partPMEM, "or makes it unreadable until it is written anew", "", Seen, "notes 6"},

	{"flush-persists", partFlush, "what came before a Flush to persistence is persistent when it completes", "", Spec, "IBTA 1.5, memory placement extensions; notes 2"},
	{"flush-to-visibility", partFlush, "a Flush to global visibility does not make persistent", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"flush-range", partFlush, "a Flush covers its range, or the whole region if it says so", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"atomic-write-after-flush", partFlush, "an Atomic Write is executed after earlier Flushes", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"flush-may-be-passed", partFlush, "a later Write may pass a Flush, unless it is fenced", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"atomic-write-is-whole", partFlush, "an Atomic Write places 8 aligned bytes at once, when it completes", "", Spec, "IBTA 1.5, memory placement extensions"},
	{"flush-needs-access", partFlush, "region and queue pair must both grant what a Flush asks for", "", Spec, "IBTA 1.5; man ibv_reg_mr"},
}
