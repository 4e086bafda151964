// Package generate makes mutants of Go packages by machine, all of them in one build.
//
// # One build
//
// A compiler takes longer than most searches, so the mutants share one program ("mutant
// schemata": Untch, Offutt, Harrold 1993). Each mutated place asks which mutant is on:
//
//	if f.alive() < f.quorum() {           the source
//	if (vm_less(7, f.alive(), f.quorum()) != vm_on(6)) {   with mutants 6 and 7
//
// The environment variable [Selects] says which one is on, and only such a build reads it.
// With none on the program does what the source does. What a mutant has in its place is the
// text of the source, with no other mutant in it.
//
// # What is left out
//
// [Operators] is the list of operators. A mutant that cannot compile is never made, so that
// one build has them all: constants where Go wants a constant stay, and so do statements
// that declare something. Nor are those made that can make no difference to what a protocol
// does: the text of errors and logs, String and Error methods, the capacity of a slice, neighbouring statements that
// have nothing in common. The reason stands at each rule in the code.
package generate
