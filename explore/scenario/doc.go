// Package scenario is a kit for scenarios: what they share beside the protocol, the workload
// and the promise. A scenario stays an [explore.Scenario]; its Build begins with [New] and
// takes the parts that it needs:
//
//   - [Kit.Host], [Kit.Server], [Lives]: what runs where, how often it starts again, and which
//     life is believed dead.
//   - [Kit.Record]: what clients ask and are answered, checked against a model of package
//     model. With a register, a key-value store or a log as the promise, nothing else is
//     needed.
//   - [Memory], [Kit.Remember]: what checks of another kind remember from step to step.
//   - [Controller], [Dial], [Expire], [Forget]: the coordination service, which can be cut off
//     and be lost.
//   - [Gate]: when which faults may strike.
//   - [Once], [Around], [Short]: one call to the controller that is lost, or one thing of which
//     a host has none left, whichever it is.
//   - [Failed]: violations with a class.
//   - [Journal]: operations for the viewer, where there is no recorder.
//   - [Verify]: a Go test that asks for a verdict and for the conditions.
//
// Conditions that a search should meet are strings: the scenario lists them in
// explore.Scenario.Sometimes, and its code calls Meet of [explore.Case] with the same string.
//
// # What the checks remember
//
// The search stops at a state that it knows. What the checks remember is part of a state; if
// some of it is left out of the fingerprint, two states are taken for one, and a verdict is
// false. So whatever decides later whether a run is right belongs into a [Recorder], a
// [Memory] or a part that [Kit.Remember] adds, and [Kit.History] is called when it has changed.
// Recorders do so themselves.
//
// Nor does the search know by itself that code has looked at what the checks remember. Code that keeps
// a copy of it past its next operation, such as what was acknowledged when a read began, or that fails
// because of it and calls no History, calls Look of [explore.Case] before it looks.
//
// What only describes a run does not belong there: it would
// make states differ for nothing.
package scenario
