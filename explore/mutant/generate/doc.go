// Package generate makes mutants of Go packages automatically, all of them in one
// build.
//
// # One build
//
// A compiler takes longer than most searches, so the mutants share one program ("mutant
// schemata": Untch, Offutt, Harrold 1993). Each mutated place checks which mutant is
// active:
//
//	if f.alive() < f.quorum() {           the source
//	if (vm_less(7, f.alive(), f.quorum()) != vm_on(6)) {   with mutants 6 and 7
//
// The environment variable [Selects] names the active mutant, and only such a build reads
// it. With no active mutant, the program behaves as the source does. What a mutant has in
// its place is the text of the source, with no other mutant in it.
//
// # What is left out
//
// [Operators] is the list of operators. A mutant that cannot compile is never made, so that one
// build has them all: constants stay where Go requires a constant, and so do statements that
// declare something. Mutants that cannot change the behaviour of a protocol are not made either:
// the text of errors and logs, String and Error methods, the capacity of a slice, neighbouring
// statements that have nothing in common. Each rule in the code states its reason.
package generate
