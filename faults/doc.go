// Package faults describes, as data, what may go wrong.
//
// A check of a protocol needs two answers before it starts. How does the hardware
// behave when nothing is broken? That is a [Profile]: a set of knobs, each one promise
// that an RDMA card keeps or does not keep. What may break, and how often? That is a
// [Budget]: a list of rules, each an upper bound on one sort of fault. This package has
// no behaviour of its own: the simulator reads the profile, the checker spends the
// budget, and reports print both, because a verdict is meaningless without them.
//
// # Fault budgets
//
// On a command line and in a test a budget is a list of rules, separated by commas:
//
//	crash(app)<=1, crash(peer*)<=1, partition(app,peer1)<=1
//
// This reads: the host app may crash at most once; among all hosts with names that
// begin with peer there is at most one crash; the link between app and peer1 is cut at
// most once. A fault that no rule mentions never happens, so the empty budget, written
// "none", is a world without faults. Where several rules match a fault, each must have
// room for it and each is charged, so one rule can narrow what another allows:
//
//	crash(*)<=2, crash(app)<=1, crash(witness)<=0
//
// The grammar, in EBNF; spaces and tabs between tokens are ignored:
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
// either order; the others take one. One end of a link can be a service, such as coord:
// partition(app,coord). In a pattern, * stands for any characters (or none) except a
// slash, as in [path.Match]; there are no other wildcards. A count is at most
// [MaxCount], a budget has at most [MaxRules] rules, and two rules for the same kind
// and the same patterns are an error.
//
// [ParseBudget] points at errors in the text:
//
//	faults: syntax error at column 13: expected a fault kind (crash, power,
//	partition, cut, suspect, revoke, break, timeout, flip, poison, ghost), found "prtition"; did you mean partition?
//	  crash(a)<=1,prtition(a,b)<=1
//	              ^
//
// [Budget.Validate] then checks a budget against the hosts of a scenario: a pattern
// that matches no host would silently check less than was asked.
//
// # Time
//
// When timers may fire is neither a profile nor a budget but one of three regimes,
// [Timers]. Under idle, the default, a timer fires only when nothing else can happen. A
// rule such as
//
//	timeout(app)<=1
//
// lets one timer of app fire nevertheless, though nothing is wrong. Under free and
// skew(r) any timer may fire, and the rule is not needed.
//
// # Hardware profiles
//
// The profiles have names (see [Profiles]). Changing a single knob yields a profile
// with a name of its own, which [ProfileByName] accepts:
//
//	relaxed+AtomicFlushes=false
//
// What every card promises is not a knob and is not listed here: a Read waits for the
// earlier Writes of its queue pair, a receive completion makes all earlier data
// visible, completions arrive in post order, and work queued behind a failed work
// request is not executed.
//
// In the sources of the knobs, [spec] means the text of the InfiniBand specification or
// of the man pages, [seen] means published code or a measurement, [de facto] means true
// on common hardware but promised by no one, [contested] means that sources
// disagree. "notes 3" is section 3 of the notes on RDMA semantics.
package faults
