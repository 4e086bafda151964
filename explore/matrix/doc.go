// Package matrix finds the promises of cards that a protocol depends on. It fills a table
// with a column for each protocol and a row for each assumption. Each cell is the result of
// a check, or follows from one. The model is Table 1 of the Arcadia paper, which was filled in by its
// authors; this one is filled in by the checker.
//
// # The rows
//
// There is a row for each named profile, and one for each way to weaken a single
// knob of the profile strong ([faults.Weakenings]). Amounts such as the MTU have
// no row ([faults.Sizes] explains why).
//
// # How few runs fill it
//
// A protocol that is right under a profile is right under every stronger one, and
// one that is wrong is wrong under every weaker one ([faults.WeakerOrEqual]). So:
//
//   - Every row is searched briefly, which finds the easy violations.
//   - One search weakens all knobs together for which nothing was found. If it is
//     exhausted, the protocol holds with each of them weakened, and under every profile
//     between the searched one and strong. If it finds a violation, halves are tried.
//   - Knobs that split messages into more pieces multiply the states, so they are
//     searched on their own, with a fiftieth of the runs.
//   - The remaining rows are searched one by one.
//
// A cell that was not searched itself names the search from which it follows. No such
// conclusion is drawn between profiles with different limits for inline payloads if the
// protocol posts payloads between the two limits. The package assumes that programs do
// not branch on the other attributes of a card.
//
// # Remedies
//
// A row that breaks is searched again with remedies at the card, which need no change
// of the protocol: single ones first, then pairs. The report names the first remedy
// with which all scenarios hold.
package matrix
