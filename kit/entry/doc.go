// Package entry manages the state that protocols keep at a controller, a
// [coord.Client]: values that hosts change by compare-and-set, counters, and exclusive
// claims.
//
// The answer to a change may be lost. The change may then have taken effect, or take
// effect a little later. A host that retries blindly can conflict with its own change.
// A host that assumes failure can overwrite work that another host based on the change.
// An [Entry] remembers such a change and resolves it before the next one: see
// [Entry.Confirm].
//
// A [Claim] is a key in a session, such as the name of a leader or of the only instance
// of an application. The session expires when the controller has received no heartbeat
// for too long. The host learns of the expiry late, so a claim alone prevents no write:
// the protocol must fence the earlier holder where the data is.
package entry

import "errors"

var (
	// ErrTaken: another host has changed, deleted or created the key since this host
	// read it.
	ErrTaken = errors.New("entry: another host has changed it")
	// ErrHeld: another host holds the claim.
	ErrHeld = errors.New("entry: held by another host")
	// ErrMalformed: the controller holds a value that this package never writes.
	ErrMalformed = errors.New("entry: malformed value")
)
