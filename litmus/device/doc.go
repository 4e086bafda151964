// Package device runs litmus tests on cards, repeatedly and with random delays between
// the statements. Every final state that a card shows must be one that the simulator
// reaches under a profile.
//
//	rig, err := device.NewRig(device.Config{Devices: cards, Profile: "rxe", Runs: 1000, Seed: 1})
//	report, err := rig.Compare(test)
//	for _, s := range report.Seen { ... } // s.Allowed: does the profile allow it?
//
// A state that a card shows and the profile forbids is an error of the simulator, of
// the profile, or of the card. A state that the profile allows and the card did not
// show means little: a few thousand runs cover few of the possibilities.
//
// # How it runs
//
// All hosts of a test are in this process. Each uses a card, in order; hosts share
// cards if there are not enough. Their memory is mapped pages of package host/oshost;
// out-of-band messages go through channels. The interpreter, litmus.Live, is the same
// as in the simulator.
//
// Persistent memory is ordinary memory here, since no failure would show the
// difference. An optional fault (maybe crash B, or the line faults) never happens,
// which is one of the simulator's runs too; only the cut of [CutAtRandom] does, at a random
// moment. Tests that require a fault, or an operation that the card lacks, are skipped;
// [Report.Skipped] has the reason.
package device
