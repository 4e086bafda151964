// Package sim is a deterministic simulator of hosts with RDMA cards: it
// implements packages verbs and host so that the code of a protocol runs in it
// unchanged, and every source of nondeterminism is a choice of a [Policy].
//
// # Runs
//
// A [World] has hosts, services and a fault budget. [World.Run] runs it once from
// its initial state: in a loop, it lists the [Event]s that can happen, asks the policy
// for one, and executes it. Within an event the policy makes further choices, such as
// which completion arrives and what a read of memory returns. The same choices produce
// the same run.
//
// A task is a coroutine. It yields only where another task could matter: when it waits,
// and before it observes something after it did something to which others may react. A
// request or message that it sends takes effect at any later time or, if its host dies,
// never; therefore a crash need only be tried where tasks wait.
//
// Whether a task pauses before an operation depends on what the operation does
// (task.go):
//
//   - It observes state that other hosts change, such as memory, completions or the state of
//     a queue pair: the task pauses if it did something to which they may have reacted, or
//     observed such state before (pause, pauseLook).
//   - It takes effect at once for other hosts, such as a revocation, a connection or a
//     receive: the task pauses if it did something to which they may have reacted, or
//     observed something of theirs (pauseDirty, pauseAfter).
//   - It takes effect at any later time, such as a request, an answer or the release of a
//     mutex: the task need not pause, since others can do before the effect whatever they
//     could do in between.
//   - Another task of the host can observe when it happened, or it observes what another task did:
//     the task pauses on a host with several tasks (pauseShared). This applies to every operation
//     that creates, numbers or destroys something that tasks share, or that asks whether it was
//     destroyed: registrations, CQs, channels, protection domains, regions, queue pairs,
//     listeners, persistent regions, signals, answers. The exceptions are operations that only
//     return a handle (AllocPD, CreateCompChannel, NewMutex, a CQ without a channel), Go, whose
//     task may start at any time, and Unlock, since nobody else could use the mutex before.
//   - The host is not a daemon, so its code may report to the checks (explore.Case.History). A
//     report belongs to the operation before it. Therefore the task pauses before every operation
//     above if it has already done or observed something in this step (mayTell), and a report is a
//     step of its own. Operations that take effect later are an exception: the task does not pause
//     before them. Instead there is a seam: if a report follows in the same step, the search
//     repeats the step and stops it at the seam ([World.Seams]), so that others can report in
//     between. Operations that nobody else can ever notice do not count, such as a registration, the
//     release of a mutex on a host with one task, a random number or a handle: a report right after
//     one belongs to the operation before.
//
// # Memory
//
// A Write in flight is kept as pending pieces (land.go). A piece lands when
// somebody observes its bytes, when somebody else changes them, or when a piece that
// must follow it lands; the profile defines the order rules. Most pieces are never
// observed, and those cost nothing. [Config].Eager makes every arrival, placement and
// acknowledgement an event of its own instead; tests show that both modes reach the
// same outcomes. Each mode is a machine: an implementation of the interface whose
// methods are the questions that the two answer differently (machine.go).
//
// # State
//
// [World.Fingerprint] hashes the state: memory, queues, messages, and for each
// task its observations, which determine its local state. [World.Footprint] returns
// what the last event used; two events commute if no use of one conflicts with a use of
// the other (footprint.go).
//
// # Persistence
//
// Persistent memory belongs to the machine and survives its lives (pmem.go). Stored data stays in
// caches until a flush and a fence. A power failure leaves any of the contents that a unit has
// held since then; the choice is made when somebody reads the unit (power.go). Stores of a CPU
// wait in a store buffer (storebuffer.go), and are pending pieces like the pieces of a Write.
//
// # Programs
//
// Config.Setup, Linger and AtEnd are for programs that are prepared before they run and
// inspected once all is quiet, such as litmus tests (linger.go).
//
// # Limits
//
// A store to memory from which the card has yet to fetch drains at once if the card is to fetch after it. MTU matters
// for what a failed Write leaves in memory (WholePackets). Config.MaxPieces bounds the number of pieces into which a
// message tears. Two bits of each unit represent all bits that a media error can flip. A remote key is looked up when
// a request is posted: a key that is registered later is refused, although the request may arrive after that; only a
// program that guesses keys could notice. Local keys are looked up at the post too, although a card may fail a
// request whose local memory is deregistered while the request is in flight. A response arrives whole.
package sim
