// Package device runs litmus tests on cards, again and again with random delays
// between the statements, and compares: every final state that a card shows must be
// one that the simulator reaches under a profile.
//
//	rig, err := device.NewRig(device.Config{Devices: cards, Profile: "rxe", Runs: 1000, Seed: 1})
//	report, err := rig.Compare(test)
//	for _, s := range report.Seen { ... } // s.Allowed is what is asked
//
// What a card shows and the profile forbids is an error of the simulator, of the
// profile, or of the card. What the profile allows and the card did not show says
// little: a card does one of many things, and a few thousand runs meet few of them.
//
// # How it runs
//
// All hosts of a test are in this process. Each takes a card, the first host the
// first one, and several share one if there are not enough. Their memory is mapped
// pages of package host/oshost; messages out of band go through channels. The
// interpreter is that of the simulator, litmus.Live.
//
// Persistent memory is memory here: nothing fails that would show the difference.
// A fault that may happen (maybe crash B, or the line faults) never does, which is
// one of the runs that the simulator has too. Tests that cannot do without a fault,
// and those with an operation that the card lacks, are skipped; [Report.Skipped]
// says why.
package device
