// Package audit tests the rules by which a search leaves something out, on any scenario.
//
// An exhaustive search rests on claims about the simulated world: steps without a use in
// common commute, a private step can be taken alone, interchangeable hosts are, states with
// one fingerprint have one future, late placement of Writes and the moments at which crashes
// are tried lose nothing. Each has its argument in the code. [Run] tests the claims
// themselves at sampled states: what a rule leaves out is made after all, and must lead to
// the same.
//
//	report, err := audit.Run(scenario, audit.Options{})
//
// The command is verbatim check --audit, and [Test] is the same in a Go test. A finding means
// that a verdict of this scenario could be false. Finding nothing is a sample, and no proof.
package audit
