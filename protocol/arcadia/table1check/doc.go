// Package table1check fills in table 1 of the Arcadia paper: which designs of a log survive which failures.
// The authors of the paper filled in the marks; here a search decides them. See docs/table1.md.
//
// [Rows] has a scenario for each design and failure. The application forces records, the failure
// happens when the search chooses, and a recovery must return every forced record and no byte that
// was never written. If a design survives a failure, no run breaks this rule; otherwise some run does.
// [Fill] runs the searches.
//
// To add a design, write its adapter in designs.go, or take a scenario of another check package, and add its
// four rows to [Rows].
package table1check
