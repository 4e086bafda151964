// Package faults says what may go wrong, as data.
//
// A check of a protocol needs two answers before it starts. How does the
// hardware behave when nothing is broken? That is a [Profile]: a set of knobs,
// each one promise that RDMA cards keep or do not keep. And what may break, and
// how often? That is a [Budget]: a list of rules, each an upper bound on one
// sort of fault. Nothing in this package does anything; the simulator reads the
// profile, the checker spends the budget, and reports print both, because a
// verdict says nothing without them.
//
// # Fault budgets
//
// On a command line and in a test a budget is written as rules with commas
// between them:
//
//	crash(app)<=1, crash(peer*)<=1, partition(app,peer1)<=1
//
// This reads: the host app may crash at most once; among all hosts whose names
// begin with peer there is at most one crash; the link between app and peer1 is
// cut at most once. What no rule mentions never happens, so the empty budget,
// written "none", is a world without faults. Where several rules match one
// fault, each of them has to have room for it and each of them pays, so rules
// can bound a part of what others allow:
//
//	crash(*)<=2, crash(app)<=1, crash(witness)<=0
//
// The grammar, in EBNF; spaces and tabs may stand between any two tokens and
// mean nothing:
//
//	budget  = "" | "none" | rule { "," rule } .
//	rule    = kind "(" pattern [ "," pattern ] ")" "<=" count .
//	kind    = "crash" | "power" | "partition" | "cut"
//	        | "suspect" | "revoke" | "break" | "timeout" | "flip" | "poison" | "ghost" .
//	pattern = char { char } .
//	char    = "A"…"Z" | "a"…"z" | "0"…"9" | "_" | "." | "/" | "-" | "*" .
//	count   = digit { digit } .
//
// The kinds partition, cut, break and ghost are about a link and take two patterns, in
// either order; the others take one. One end of a link that is cut can be the host of a
// service, such as coord: partition(app,coord). In a pattern, * stands for any characters
// (also none) except a slash, as in [path.Match]; there are no other wildcards.
// A count is at most [MaxCount], a budget has at most [MaxRules] rules, and two
// rules for the same kind and the same patterns are an error.
//
// [ParseBudget] points at mistakes in the text:
//
//	faults: syntax error at column 13: expected a fault kind (crash, power,
//	partition, cut, suspect, revoke, break, timeout, flip, poison, ghost), found "prtition"; did you mean partition?
//	  crash(a)<=1,prtition(a,b)<=1
//	              ^
//
// [Budget.Validate] then holds a budget against the hosts of a scenario: a
// pattern that matches none of them would silently check less than was asked.
//
// # Time
//
// When a timer may fire is neither: [Timers] says it, as one of three regimes. With idle,
// the default, a timer fires only when nothing else can happen. A rule such as
//
//	timeout(app)<=1
//
// lets one of the timers of app fire nevertheless, though nothing is wrong.
// With free and skew(r) any timer may, and the rule is not needed.
//
// # Hardware profiles
//
// The profiles have names (see [Profiles]), and a single knob of one can be
// turned, which gives a profile with a name of its own that [ProfileByName]
// understands again:
//
//	relaxed+AtomicFlushes=false
//
// What every card promises is not a knob and not here: that a Read waits for
// the earlier Writes of its queue pair, that a receive completion makes all
// earlier data visible, that completions come in post order, that work queued
// behind a failed work request is not executed.
//
// In the sources of the knobs, [spec] means text of the InfiniBand
// specification or of the man pages, [seen] means published code or
// measurement, [de facto] means true on the hardware people use and promised by
// nobody, [contested] means that sources disagree. "notes 3" is section 3 of
// the notes on RDMA semantics.
package faults
