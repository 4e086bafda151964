package sim

// Policy resolves the world's nondeterminism. It is the checker's side of a run.
type Policy interface {
	// Pick chooses which of the enabled events happens next, or returns -1 to stop the
	// run here. The slice belongs to the world.
	Pick(events []Event) int
	// Choose resolves one choice inside a step: it returns a number in [0, n).
	Choose(kind ChoiceKind, n int) int
}

// KnowingPolicy also knows the next actor while it repeats a run. The world then does not list the alternatives.
type KnowingPolicy interface {
	Policy
	// Next returns the actor of the next event, if it is known.
	Next() (Actor, bool)
}

// NamedPolicy also needs the names of the options. Names are stable: they stay valid after the code was edited.
type NamedPolicy interface {
	Policy
	ChooseNamed(kind ChoiceKind, names []string) int
}

// ChoiceKind is the subject of a choice inside a step.
type ChoiceKind uint8

// The kinds of choices.
const (
	ChooseCompletion ChoiceKind = iota // which completion comes next
	ChooseLanding                      // which pending writes a look finds in memory
	ChooseOrder                        // which of several writes to the same bytes came first
	ChooseFetch                        // whether the card had already fetched the source
	ChooseMessage                      // which request or which answers arrive
	ChooseRand                         // a random number of the protocol
	ChooseCutoff                       // how far a queue got when it was cut off
	ChoosePersist                      // what a power failure left of some bytes
	ChooseEnd                          // whether a run that could finish does
	ChooseMedia                        // whether some bytes are the damaged ones
	ChooseTimer                        // which timer of a host a fault fires
	ChooseClock                        // what a look at a clock finds
	ChooseHost                         // which of several interchangeable hosts comes next
	choiceKinds
)

var choiceNames = [...]string{"completion", "landing", "order", "fetch", "message", "rand", "cutoff", "persist", "end", "media", "timer", "clock", "host"}

func (k ChoiceKind) String() string { return choiceNames[k] }

// Event is something that can happen next.
type Event struct {
	Actor Actor
	// Fault is set if the event uses up the fault budget.
	Fault bool
	task  *task
	qp    *qp
	quiet bool // qp may be quiet instead of failing
	rule  int
	a, b  int
}
