// Package sim is a deterministic simulator of hosts with RDMA cards: it
// implements packages verbs and host so that the code of a protocol runs in it
// unchanged, and every source of nondeterminism is a choice of a [Policy].
//
// # Runs
//
// A [World] has hosts, services and a fault budget. [World.Run] runs it once from
// its initial state: again and again it lists the [Event]s that can happen, asks
// the policy for one, and makes it happen. Inside an event the code asks for
// further choices: which completion comes, what a look at memory finds. The same
// answers make the same run.
//
// A task is a coroutine. It gives control back only where another could matter: when
// it waits, and before it looks at something after it did something that others may
// react to. What it posts or sends takes effect at any later time or, if its host
// dies, never; therefore a crash need only be tried where tasks wait.
//
// # Memory
//
// A Write in flight is kept as pending pieces (land.go). A piece lands when
// somebody looks at its bytes, when somebody else changes them, or when a piece
// that must follow it lands; the order rules are those of the profile. Nobody
// looks at most pieces, and those cost nothing. [Config].Eager makes every
// arrival, placement and acknowledgement an event of its own instead; tests show
// that both modes reach the same outcomes.
//
// # State
//
// [World.Fingerprint] hashes the state: memory, queues, messages, and for each
// task what it has observed, of which its local state is a function.
// [World.Footprint] says what the last event used; two events that use nothing in
// common commute.
//
// # Limits
//
// Regions are DRAM; OpenPMEM reports that persistent memory is unsupported, as
// do posts of Flush and AtomicWrite. A Read's response reaches the local buffer
// when its completion is seen, not before. CPUs are sequentially consistent: store
// buffers come with persistent memory. Where a profile promises WholePackets, a
// write that failed may still leave any cells that the order allows: more than
// such cards do. MTU and MaxRdAtomic bound sizes and delay requests, which changes
// nothing that can be observed without a clock; DDIO and Domain are about
// persistent memory.
package sim
