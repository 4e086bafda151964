// Package nclcheck checks NCL: worlds with an application, log peers and a controller,
// workloads of writes, and the guarantee of section 4.2 of the SplitFT paper as an
// invariant. Every acknowledged write and all writes before it are recovered, in order,
// whatever crashes within the budget. Later recoveries return everything that an earlier
// recovery returned.
//
// [Scenarios] lists the built-in scenarios. [FromTrace] makes a scenario from the system
// calls of a real program on its log file.
package nclcheck
