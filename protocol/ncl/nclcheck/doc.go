// Package nclcheck is what to check of NCL: worlds with an application, log peers
// and a controller, workloads of writes, and the promise of section 4.2 of the
// SplitFT paper as an invariant: every acknowledged write, and all before it, is
// recovered in order, whatever crashed within the budget, and what one recovery
// returned every later one returns too.
//
// [Scenarios] lists the built-in ones. [FromTrace] makes one of the system calls
// that a real program made on its log file.
package nclcheck
