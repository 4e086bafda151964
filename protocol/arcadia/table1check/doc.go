// Package table1check fills in table 1 of the Arcadia paper: which designs of a log survive which failures.
// Its authors filled it in; here a search does. See docs/table1.md.
//
// [Rows] has a scenario for each design and failure. The application forces records, the failure
// strikes when the search chooses, and a recovery must return every forced record and no byte that
// nobody wrote. If a design survives a failure, no run breaks this rule; if it does not, some run
// does. [Fill] runs the searches.
//
// To add a design, write its adapter in designs.go, or take a scenario of another check package, and add its
// four rows to [Rows].
package table1check
