// Package explore is the checker: it runs a scenario's real code in the simulator
// again and again, enumerates what can happen, and hands back a counterexample
// that replays.
//
// # Writing a check
//
// A [Scenario] builds a world of hosts and reports to a [Case] what its checks
// remember and what went wrong. In a test:
//
//	func TestMirror(t *testing.T) {
//		explore.Test(t, mirror.Scenario)
//	}
//
// A failure prints a timeline, the command that replays it and a Go regression
// test.
//
// Package explore/scenario is a kit for the scenario: hosts and their lives, a
// coordination service, and a recorder that holds what clients were answered against a
// model.
//
// # Strategies
//
// The exhaustive strategy tries everything within the stated bounds: verdict
// [Verified]. It resolves placements late (package sim), stops at states that it
// knows, merges states that differ only in the names of interchangeable hosts,
// and leaves out orders of events that commute (sleep.go). The random and pct
// strategies sample: verdict [Clean]. A search that met a limit says [RanOut],
// and a check that could not decide says [Unknown]; neither is ever called
// verified.
//
// # What the code must keep to
//
// A run is a function of its choices. Before a search the first runs are made
// twice and compared; if they differ the verdict is [Unknown] with
// [ErrNotDeterministic].
//
// A step must come back: code that loops or waits without a call of packages host
// or verbs cannot be interrupted. After [Options].StepTimeout of real time the
// check is given up with verdict [Unknown] and a [HangError], and the code's
// goroutine is abandoned.
package explore
