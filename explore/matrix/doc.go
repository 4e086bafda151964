// Package matrix finds out which promises of cards a protocol rests on: it fills
// a table of protocols by assumptions, each cell of which is a check or follows
// from one. The model is Table 1 of the Arcadia paper, which was filled in by its
// authors; this one is filled in by the checker.
//
// # The rows
//
// There is a row for each named profile, and one for each way to weaken a single
// knob of the profile strong ([faults.Weakenings]). Amounts such as the MTU have
// none ([faults.Sizes] says why).
//
// # How few runs fill it
//
// A protocol that is right under a profile is right under every stronger one, and
// one that is wrong is wrong under every weaker one ([faults.WeakerOrEqual]). So:
//
//   - Every row is searched for a moment, which finds what is easy to break.
//   - One search takes all knobs together that nothing was found for. If it is
//     exhausted, each of them holds, and so does every profile between it and
//     strong. If it finds something, halves are tried.
//   - Knobs that make messages come apart into more pieces multiply the states,
//     so they are searched on their own, with a fiftieth of the runs.
//   - What is left is searched row by row.
//
// A cell that was not searched itself says from which search it follows. Different
// limits for inline payloads stop such conclusions if the protocol posts payloads
// between the two limits. It is assumed that programs do not decide by the other
// attributes of a card.
//
// # Mends
//
// A row that breaks is searched again with what a program could do at the card to
// get along: the single strengthenings first, then pairs. The report names the
// first with which all scenarios hold.
package matrix
