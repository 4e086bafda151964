package splitfscheck

// broken is a promise that was broken, and its class:
//
//	lost        what had returned is not there
//	half-done   what was under way is neither as before nor as after
//	wrong       without a crash a file is not what the operations made it
//	leaked      something is left over of what is gone
//	reused-name an object has the name of an earlier one
//	unsynced    an operation returned, and names are not durable
//	unavailable an operation failed for nothing
//	nonsense    what should be refused was taken, or refused by another error
//	misuse      a call of the store or the directory that is not allowed
type broken struct{ class, text string }

func (b *broken) Error() string { return b.text }

// Class implements explore.Classed.
func (b *broken) Class() string { return b.class }
