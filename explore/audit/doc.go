// Package audit tests, on any scenario, the rules by which a search omits something.
//
// An exhaustive search depends on claims about the simulated world: steps that use
// nothing in common commute, a private step can be taken alone, interchangeable hosts are
// interchangeable, states with one fingerprint have one future, and late placement of
// Writes and the moments chosen for crashes lose nothing. The code argues for each. [Run]
// tests the claims themselves at sampled states: it explores what a rule omits, and the
// result must be the same. It also runs two searches in opposite orders: in both, each
// step must lead to the same states. If they end, a third one that omits the second order
// of steps must find as many.
//
//	report, err := audit.Run(scenario, audit.Options{})
//
// The command is verbatim check --audit, and [Test] does the same in a Go test. A
// finding means that a verdict on this scenario could be false. The audit samples; a
// clean result proves nothing.
package audit
