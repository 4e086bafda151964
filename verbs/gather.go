package verbs

import (
	"fmt"
	"slices"
)

// CheckGather returns nil if a channel may gather completions of cqs into wc: there is room for one
// of each, they are distinct, and they belong to the channel, as of reports. The error wraps [ErrInvalid].
func CheckGather(cqs []CQ, wc []WC, of func(CQ) bool) error {
	if len(wc) < len(cqs) {
		return fmt.Errorf("%w: room for %d completions of %d CQs", ErrInvalid, len(wc), len(cqs))
	}
	for i, q := range cqs {
		if !of(q) {
			return fmt.Errorf("%w: CQ %d belongs to another channel", ErrInvalid, i)
		}
		if slices.Contains(cqs[:i], q) {
			return fmt.Errorf("%w: CQ %d is listed twice", ErrInvalid, i)
		}
	}
	return nil
}
