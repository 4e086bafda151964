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
// Where a task pauses follows from what an operation does (task.go):
//
//   - It looks at what other hosts change, such as memory, completions, the state of a queue
//     pair: it pauses if the task did something to which they may have reacted, or looked
//     before (pause, pauseLook).
//   - It takes effect at once for other hosts, such as a revocation, a connection, a receive:
//     it pauses if the task did something to which they may have reacted, or saw something
//     of theirs (pauseDirty, pauseAfter).
//   - It takes effect at any later time, such as a request, an answer, the release of a mutex:
//     it need not pause, since what others do in between they could do before it takes effect.
//   - Another task of the host can tell when it happened, or it can tell what another task did:
//     it pauses on a host with several tasks (pauseShared). That is all that makes, numbers or
//     ends something that tasks share or that asks whether it was ended: registrations, CQs,
//     channels, protection domains, regions, queue pairs, listeners, persistent regions, signals,
//     answers. Left out are what gives nothing but a handle (AllocPD, CreateCompChannel, NewMutex,
//     a CQ without a channel), Go, whose task comes when it comes, and Unlock: nobody else could
//     do anything with the mutex before.
//   - The host is no daemon, so its code may report to the checks (explore.Case.History). A report
//     belongs to the operation before it. Therefore every operation above pauses if the task has
//     already done or seen something in this step (mayTell), and a report is a step of its own.
//     What takes effect later does not pause all the same. Before it there is a seam: if a report
//     follows in the same step, the search makes the step again and lets it end there
//     ([World.Seams]), so that others can report in between. What nobody else can ever notice, such
//     as a registration or the release of a mutex on a host with one task, a number of Rand or a
//     handle, is no such operation: a report right after it belongs to the operation before.
//
// # Memory
//
// A Write in flight is kept as pending pieces (land.go). A piece lands when
// somebody looks at its bytes, when somebody else changes them, or when a piece
// that must follow it lands; the order rules are those of the profile. Nobody
// looks at most pieces, and those cost nothing. [Config].Eager makes every
// arrival, placement and acknowledgement an event of its own instead; tests show
// that both modes reach the same outcomes. The modes are two machines, and what they
// answer differently is the interface between them and the rest (machine.go).
//
// # State
//
// [World.Fingerprint] hashes the state: memory, queues, messages, and for each
// task what it has observed, of which its local state is a function.
// [World.Footprint] says what the last event used; two events commute if no use of
// the one conflicts with a use of the other (footprint.go).
//
// # Persistence
//
// Persistent memory belongs to the machine and survives its lives (pmem.go). What is
// stored there sits in caches until a flush and a fence, and a power failure leaves
// any of the contents that a unit had since: which, is found out when somebody reads
// it (power.go). Stores of a CPU wait in a store buffer (storebuffer.go), and are pending
// pieces like those of a Write.
//
// # Programs
//
// Config.Setup, Linger and AtEnd are for programs that are prepared before they run
// and looked at when all is quiet, as litmus tests are (linger.go).
//
// # Limits
//
// A store to memory that the card has yet to fetch from drains at once if the
// card is to fetch after it. MTU matters for what a failed Write leaves
// (WholePackets); Config.MaxPieces bounds into how many pieces a message tears. Of the
// bits that a media error can flip, two of each unit stand for all. A remote key is looked up
// when a request is posted: one that is registered later is refused, although the request may
// arrive after that; only who guesses keys could tell. Local keys are as well: a card may fail a
// request whose local memory is deregistered while it is under way. A response comes whole.
package sim
