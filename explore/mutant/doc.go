// Package mutant shows that the checker finds bugs: it checks a protocol again
// and again, each time with one bug put in on purpose.
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
// Finding is the number in docs/findings.md, if the bug has one, and Scenario the one
// to search first, if the bug is in something that one scenario is about. Class is the
// violation that must be found: one of another class may come from what the patch breaks on
// the side. A long value goes on in the next line, after blanks. To make a patch, edit the protocol, run `git
// diff protocol/ncl`, put the header above what it prints, and undo the edit.
//
// A hunk is looked for by its lines, not its line numbers, and there must be one
// place for it. A patch that no longer applies is an error that names the patch,
// the file and the hunk; the tests of this package apply them all.
//
// # What counts as caught
//
// [Run] builds each mutant and checks the protocol's scenarios, with their own
// profiles and faults, until one is violated in a class of the header, past violations of others: each by a little sampling, then each for
// a short time, then by more sampling, then to the end. The code as it is must be verified in
// all of them, see [Options.NoControl]. A mutant that no scenario catches
// survives, and [Result.Searches] says how each search ended.
//
// [RunLitmus] does the same with mutants of the simulator and litmus tests, [RunExplore] with
// mutants of the checker and its yardsticks. [RunScore] generates the mutants of a protocol
// and counts what becomes of them, and [Test] does so in a Go test. docs/mutants.md is about all three.
package mutant
