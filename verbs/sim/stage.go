package sim

// The stages of an element. It is pending until it lands or is dropped:
//
//	pending → landing → landed
//	landing → pending   a Read has sampled some of it, an Atomic has read: the rest comes later
//	landing ↔ reading   an Atomic reads
//	any of these → dropped, forgotten
//
// Between two steps no element is landing or reading. Four other facts are compatible with each other and with
// every stage before the last three, so they stay booleans. The responder's card has it (came), and it certainly
// arrived (acked): either may hold without the other. Its moment is past (frozen), and its request can no longer
// succeed although it may have arrived (could): both may hold, and a grant of access cancels both.

type stage uint8

const (
	pending   stage = iota
	landing         // or it samples or reads: the elements that land before it have been decided
	reading         // the Atomic is reading the word
	landed          // it is in memory, or was executed
	dropped         // it never will be
	forgotten       // dropped because its memory is gone: no host can observe whether it had landed
)

// over reports whether e has landed or never will.
func (e *elem) over() bool { return e.stage >= landed }

// void reports whether e was dropped.
func (e *elem) void() bool { return e.stage >= dropped }

// unknown reports whether no host can observe if e had landed; e was dropped.
func (e *elem) unknown() bool { return e.stage == forgotten }

// during reports whether e is landing.
func (e *elem) during() bool { return e.stage == landing || e.stage == reading }

// begins begins the landing of e, or of a part of it.
func (e *elem) begins() { e.stage = landing }

// pauses stops the landing before all of e has landed.
func (e *elem) pauses() { e.goes(pending) }

// goes moves e to a stage, unless it is over.
func (e *elem) goes(to stage) {
	if !e.over() {
		e.stage = to
	}
}

// lands ends the landing of e. If e was dropped meanwhile it stays dropped.
func (e *elem) lands() { e.goes(landed) }

// drops decides that e never lands.
func (e *elem) drops() {
	e.stage = dropped
	if e.reg != nil && e.reg.freed {
		e.stage = forgotten
	}
}

// harm is what a power failure at its destination did to an element that it found frozen.
type harm uint8

const (
	unharmed harm = iota
	torn          // a part of it may be in memory
	cached        // like torn, and if it had landed, then in a cache that is lost
)

// struck reports whether a power failure froze e.
func (e *elem) struck() bool { return e.harm != unharmed }

// lost reports whether e may not have persisted although it landed.
func (e *elem) lost() bool { return e.harm == cached }
