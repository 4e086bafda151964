package faults

// knobs is the table of all knobs, in the order of the fields of Profile.
var knobs = []knob{
	knob{
		name:    "Placement",
		meaning: "the order in which the bytes of Writes reach the responder's memory",
		promise: "InOrder: nobody, though a card can promise it inside one message; Blocks128: cards that report it; AnyOrder promises nothing",
		source:  "notes 3: none promised [spec], increasing addresses on strongly ordered NICs [de facto]; man ibv_query_qp_data_in_order: per message or per aligned 128 bytes, never between work requests [spec]",
	}.oneOf(placementOf, placementNames, weakerPlacement),
	knob{
		name:    "CellBytes",
		meaning: "how many aligned bytes a concurrent observer never sees torn",
		promise: "nobody; 8 holds on common hardware",
		source:  "notes 3: aligned 8 bytes are never torn [de facto]",
	}.number(cellBytesOf, "8, 1", isCell).smallerIsWeaker(cellBytesOf),
	knob{
		name:    "ReadsSeeAcked",
		meaning: "a Read or Atomic sees everything its card acknowledged before, on any queue pair",
		promise: "nobody; it holds where a PCIe read pushes posted writes, that is without relaxed ordering",
		source:  "notes 1: no order at all across QPs [spec]; PCIe ordering rules [de facto]",
	}.promised(func(p *Profile) *bool { return &p.ReadsSeeAcked }),
	knob{
		name:    "AtomicFlushes",
		meaning: "an Atomic reaches memory after the earlier Writes of its queue pair",
		promise: "the InfiniBand specification; whether it survives relaxed ordering is disputed",
		source:  "notes 1, litmus tests 5 and 11 [spec]; under relaxed ordering [contested]",
	}.promised(func(p *Profile) *bool { return &p.AtomicFlushes }),
	knob{
		name:    "AtomicOrdersLater",
		meaning: "a later Write does not pass an earlier Atomic of its queue pair",
		promise: "the InfiniBand specification on one reading",
		source:  "notes 1 [contested]",
	}.promised(func(p *Profile) *bool { return &p.AtomicOrdersLater }),
	knob{
		name:    "FenceWaitsAll",
		meaning: "a fence waits for all earlier work, not only for earlier Reads and Atomics",
		promise: "rxe; the InfiniBand specification promises earlier Reads and Atomics only",
		source:  "notes 1: IBA table 79 [spec], rxe [seen]",
	}.promised(func(p *Profile) *bool { return &p.FenceWaitsAll }),
	knob{
		name:    "DrainOnRevoke",
		meaning: "when modify_qp(ERR) or dereg_mr returns, the packets accepted before are in memory",
		promise: "nobody",
		source:  "notes 5 [de facto]",
	}.promised(func(p *Profile) *bool { return &p.DrainOnRevoke }),
	knob{
		name:    "AtomicGlob",
		meaning: "Atomics are atomic against the responder's CPUs too",
		promise: "cards that report atomic_cap ATOMIC_GLOB; others report ATOMIC_HCA",
		source:  "notes 4, litmus test 16; man ibv_query_device [spec]",
	}.promised(func(p *Profile) *bool { return &p.AtomicGlob }),
	knob{
		name:    "WholePackets",
		meaning: "a failed Write leaves its first packets, each whole or not at all; otherwise any subset of its cells",
		promise: "nobody; cards that take packets in order do so",
		source:  "notes 3: any prefix, whole packets on real NICs [de facto]; a gap is possible where packets are placed out of order",
	}.promised(func(p *Profile) *bool { return &p.WholePackets }),
	knob{
		name:    "FailedCellBytes",
		meaning: "how many aligned bytes a failed Write leaves together, unless WholePackets; at most CellBytes",
		promise: "nobody",
		source:  "notes 3: any byte in the weakest profile [spec: no rollback and no granularity]",
	}.number(failedCellBytesOf, "8, 1", isCell).smallerIsWeaker(failedCellBytesOf),
	knob{
		name:    "MTU",
		meaning: "path MTU, the bytes of payload in one packet; below 256 only to scale a scenario down",
		promise: "the path; enforced by the specification",
		source:  "IBA path MTU 256 to 4096 [spec]; rxe on Ethernet with 1500 bytes: 1024 [seen]",
	}.number(mtuOf, "powers of two from 8 to 4096", isMTU).smallerIsWeaker(mtuOf),
	knob{
		name:    "MaxInline",
		meaning: "the most bytes that a work request can carry inline",
		promise: "the driver, when a queue pair is created",
		source:  "perftest asks for 220 on RC [seen]; rxe 512 (RXE_MAX_INLINE_DATA), EFA 32 (EFA_IO_TX_DESC_INLINE_MAX_SIZE) [seen]",
	}.number(func(p *Profile) *int { return &p.MaxInline }, "0 to 4096", within(0, 4096)),
	knob{
		name:    "MaxRdAtomic",
		meaning: "the most Reads and Atomics outstanding on a queue pair; more stall the send queue",
		promise: "the card (max_qp_rd_atom)",
		source:  "notes 5; an 8-bit field [spec]; 16 on ConnectX, 128 on rxe (RXE_MAX_QP_RD_ATOM) [seen]",
	}.number(maxRdAtomicOf, "1 to 255", within(1, 255)).largerIsWeaker(maxRdAtomicOf),
	knob{
		name:    "DDIO",
		meaning: "arriving data lands in the CPU cache; otherwise in the memory controller",
		promise: "the configuration of the host; on by default",
		source:  "notes 2 and 6, litmus tests 25 and 26 [seen]",
	}.permitted(func(p *Profile) *bool { return &p.DDIO }),
	knob{
		name:    "Domain",
		meaning: "the persistence domain: what survives a power failure",
		promise: "the platform",
		source:  "notes 6 [seen]",
	}.oneOf(func(p *Profile) textValue { return &p.Domain }, domainNames, weakerDomain),
	knob{
		name:    "StoreBuffers",
		meaning: "a CPU's stores wait in a buffer of its own, so that later loads may pass them; otherwise CPUs are sequentially consistent",
		promise: "x86 processors do this (TSO); none promises sequential consistency",
		source:  "notes 6: x86-TSO [spec]",
	}.permitted(func(p *Profile) *bool { return &p.StoreBuffers }),
	knob{
		name:    "TornLines",
		meaning: "a cache line that is written back persists in part, in any of its aligned 8 bytes; otherwise as it was at one moment",
		promise: "nobody promises whole lines; memory controllers with ADR take a line at once",
		source:  "notes 6: a 64-byte line may persist in part [de facto]",
	}.permitted(func(p *Profile) *bool { return &p.TornLines }),
	knob{
		name:    "FlushOps",
		meaning: "the card has RDMA Flush and Atomic Write; otherwise it refuses to take them",
		promise: "cards that report IBV_DEVICE_FLUSH and IBV_DEVICE_ATOMIC_WRITE; currently only rxe does, so turn it off to check a protocol without them",
		source:  "notes 2: IBTA 1.5 [spec]; rxe from kernel 6.2 [seen]",
	}.yesNo(func(p *Profile) *bool { return &p.FlushOps }),
}

func placementOf(p *Profile) textValue    { return &p.Placement }
func cellBytesOf(p *Profile) *int         { return &p.CellBytes }
func failedCellBytesOf(p *Profile) *int   { return &p.FailedCellBytes }
func mtuOf(p *Profile) *int               { return &p.MTU }
func maxRdAtomicOf(p *Profile) *int       { return &p.MaxRdAtomic }
func isCell(n int) bool                   { return n == 8 || n == 1 }
func isMTU(n int) bool                    { return n >= 8 && n <= 4096 && n&(n-1) == 0 }
func within(low, high int) func(int) bool { return func(n int) bool { return low <= n && n <= high } }

// weakerPlacement relies on the order of the constants, from strongest to weakest.
func weakerPlacement(a, b *Profile) bool { return a.Placement >= b.Placement }

// weakerDomain has one step only: under ADR the caches may have been written back in
// time, which is all that eADR allows. The others do not cover each other. Where
// nothing survives, a recovery never finds half of a structure; where all memory
// survives, it finds data that was never meant to last.
func weakerDomain(a, b *Profile) bool {
	return a.Domain == b.Domain || a.Domain == ADR && b.Domain == EADR
}
