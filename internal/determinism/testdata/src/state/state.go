// Package state is nobody's protocol.
package state

var Calls int
