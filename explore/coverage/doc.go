// Package coverage reports which lines of a protocol a search reached, by Go's own
// coverage.
//
// A program that is built with [Build] counts the statements of the named packages. It
// can clear its counters before a search ([Clear]) and read them after it ([Collect]),
// so that each search has a [Profile] of its own. A program that was built in another
// way counts nothing, and reports [ErrNone].
//
// A statement that was reached is not a statement that was checked in every state. But
// one that was never reached was not checked at all, whatever the verdict says.
package coverage
