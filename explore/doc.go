// Package explore is the checker: it runs a scenario's real code in the simulator many
// times, enumerates what can happen, and returns a counterexample that replays.
//
// # Writing a check
//
// A [Scenario] builds a world of hosts, whose code reports to a [Case] the state of its
// checks and its failures. In a test:
//
//	func TestMirror(t *testing.T) {
//		explore.Test(t, mirror.Scenario)
//	}
//
// A failure prints a timeline, the command that replays it and a Go regression test.
//
// Package explore/scenario is a kit for scenarios: hosts and their lives, a
// coordination service, and a recorder that checks the clients' operations against a
// model.
//
// # Strategies
//
// The exhaustive strategy tries everything within the stated bounds: verdict
// [Verified]. It resolves placements late (package sim), stops at known states, merges
// states that differ only in the names of interchangeable hosts, and omits orders of
// events that commute (sleep.go). The random and pct strategies sample: verdict
// [Clean], which proves nothing. A search that reached a limit is [RanOut], and a check
// that could not decide is [Unknown]; neither is ever called verified.
//
// # Rules for the code
//
// A run is a function of its choices. Before a search, the checker executes the first
// runs twice and compares them; if they differ, the verdict is [Unknown] with
// [ErrNotDeterministic].
//
// A step must return: code that loops or waits without a call to packages host or verbs
// cannot be interrupted. After [Options].StepTimeout of real time the check gives up
// with verdict [Unknown] and a [HangError], and abandons the code's goroutine.
package explore
