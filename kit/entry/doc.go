// Package entry is what protocols keep at a controller, a [coord.Client]: values that
// hosts change by compare-and-set, counters, and the right to be the only one.
//
// The answer to a change may be lost. The change may have taken effect then, now or a
// little later, so whoever repeats it blindly can fail against itself, and whoever takes
// it for failed can overwrite what another host built on it. An [Entry] remembers the
// change and finds out what became of it before the next one: see [Entry.Confirm].
//
// A [Claim] is a key in a session, such as the name of a leader or of the one instance of
// an application. The session ends when the controller has not heard from its host for
// too long. The host learns of it late, so a claim alone keeps nobody from writing: the
// protocol must fence the earlier holder where the data is.
package entry

import "errors"

var (
	// ErrTaken: another host has changed, deleted or created the key since this one read it.
	ErrTaken = errors.New("entry: another host has changed it")
	// ErrHeld: another host holds the claim.
	ErrHeld = errors.New("entry: held by another host")
	// ErrMalformed: the value at the controller is not what this package writes there.
	ErrMalformed = errors.New("entry: malformed value")
)
