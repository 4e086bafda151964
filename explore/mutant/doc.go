// Package mutant shows that the checker finds bugs: it checks a protocol again
// and again, each time with one deliberate bug.
//
// # A mutant
//
// A mutant is a file testdata/mutants/PROTOCOL/NAME.patch: a header and a unified
// diff. Protocol code has no switches for bugs, and the working tree is never
// changed: the patch is applied in memory, and `go build -overlay` builds the
// command verbatim from the result.
//
//	Title: The stamp is posted before the data
//	Breaks: A stamp on a peer no longer says that the data before it is there.
//	Paper: 4.4
//	Finding: 1
//	Scenario: ncl/twice
//	Class: lost-acknowledged-write
//
//	diff --git a/protocol/ncl/file.go b/protocol/ncl/file.go
//	--- a/protocol/ncl/file.go
//	+++ b/protocol/ncl/file.go
//	...
//
// Finding is the bug's number in docs/findings.md, if it has one. Scenario is the scenario to
// search first, if the bug is in something that one scenario is about. Class is the class of the
// violation that must be found: a violation of another class may be a side effect of the patch. A
// long value continues on the next line, after blanks. To make a patch, edit the protocol, run `git
// diff protocol/ncl`, put the header above its output, and undo the edit.
//
// A hunk is located by its lines, not its line numbers, and must match in exactly one
// place. A patch that no longer applies is an error that names the patch, the file and
// the hunk; the tests of this package apply them all.
//
// # What counts as caught
//
// [Run] builds each mutant and checks the protocol's scenarios, with their own profiles and faults,
// until one is violated in a class that the header names. It ignores violations of other classes.
// Each scenario is sampled a little, then searched for a short time, then sampled more, and then
// searched to completion. The unmodified code must be verified in all of them; see
// [Options.NoControl]. A mutant that no scenario catches survives, and [Result.Searches] has the
// outcome of each search.
//
// [RunLitmus] does the same with mutants of the simulator and litmus tests, [RunExplore] with
// mutants of the checker and its yardsticks. [RunScore] generates the mutants of a protocol and
// counts their outcomes, and [Test] does so in a Go test. docs/mutants.md describes all three.
package mutant
