// Package nclcheck checks NCL: worlds with an application, log peers and a controller,
// workloads of writes, and the guarantee of section 4.2 of the SplitFT paper as an
// invariant. Every acknowledged write, and all before it, is recovered in order,
// whatever crashes within the budget, and every later recovery returns what an earlier
// one returned.
//
// [Scenarios] lists the built-in ones. [FromTrace] makes one from the system calls of a
// real program on its log file.
package nclcheck
