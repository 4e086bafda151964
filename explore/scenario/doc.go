// Package scenario is a kit for scenarios: what they share besides the protocol, the
// workload and the promise. A scenario remains an [explore.Scenario]; its Build begins
// with [New] and uses the parts that it needs:
//
//   - [Kit.Host], [Kit.Server], [Lives]: what runs where, how often it restarts, and which
//     life is believed dead.
//   - [Kit.Record]: the clients' requests and answers, checked against a model of package
//     model. If the promise is that of a register, a key-value store or a log, nothing else
//     is needed.
//   - [Memory], [Kit.Remember]: what other checks remember from step to step.
//   - [Controller], [Dial], [Expire], [Forget]: the coordination service, which can be cut off
//     and lose its data.
//   - [Gate]: when which faults may strike.
//   - [Once], [Around], [Short]: one lost call to the controller, or one exhausted resource of
//     a host, whichever it is.
//   - [Failed]: violations with a class.
//   - [Journal]: operations for the viewer, where there is no recorder.
//   - [Verify]: a Go test that requires a verdict and the conditions.
//
// Conditions that a search should meet are strings: the scenario lists them in
// explore.Scenario.Sometimes, and its code calls Meet of [explore.Case] with the same
// string.
//
// # What the checks remember
//
// The search stops at a known state. What the checks remember is part of a state; if
// the fingerprint omits some of it, two states are merged wrongly and the verdict is
// false. So everything that later decides whether a run is right belongs in a
// [Recorder], a [Memory] or a part added with [Kit.Remember]; call [Kit.History] after
// each change, in the same step. Recorders do so themselves. If a step does not
// report a change, the verdict is unknown, with [sim.ErrUnreported]. Mere descriptions of a run do not belong
// there: they would multiply states for nothing.
//
// The search does not notice when code looks at what the checks remember. Code that keeps a
// copy past its next operation, such as what was acknowledged when a read began, or that
// fails because of it without a call of History, must call Look of [explore.Case] first.
package scenario
