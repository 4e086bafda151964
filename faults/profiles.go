package faults

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// ErrUnknownProfile is the cause of an error about a profile that does not
// exist.
var ErrUnknownProfile = errors.New("unknown profile")

// Profiles returns the named profiles, fresh copies:
//
//   - strong: a card of the ConnectX class without PCIe relaxed ordering and
//     without adaptive routing
//   - relaxed: the same card with PCIe relaxed ordering
//   - ooo: also with adaptive routing and out-of-order placement of packets
//   - srd: a transport like SRD of EFA: unordered but for aligned 128-byte blocks
//   - iba: the weakest that the specification allows
//   - rxe: Soft-RoCE, the software card of Linux, as a reference that anybody can run
//
// By [WeakerOrEqual], iba covers all the others; ooo covers relaxed and srd, which both
// cover strong. rxe comes last because it is outside this order: a card no weaker than
// strong, but with smaller packets and more outstanding reads.
func Profiles() []Profile {
	return []Profile{strong(), relaxed(), ooo(), srd(), iba(), rxe()}
}

// strong returns the base of the other profiles, and has the default of each knob.
func strong() Profile {
	return Profile{
		Name:              "strong",
		Placement:         InOrder,
		CellBytes:         8,
		ReadsSeeAcked:     true,
		AtomicFlushes:     true,
		AtomicOrdersLater: true,
		FenceWaitsAll:     false,
		DrainOnRevoke:     true,
		AtomicGlob:        false,
		WholePackets:      true,
		FailedCellBytes:   8,
		MTU:               4096,
		MaxInline:         220,
		MaxRdAtomic:       16,
		DDIO:              true,
		Domain:            ADR,
		StoreBuffers:      true,
		TornLines:         true,
		FlushOps:          true,
	}
}

func relaxed() Profile {
	p := strong()
	p.Name = "relaxed"
	p.Placement = AnyOrder
	p.ReadsSeeAcked = false
	p.AtomicOrdersLater = false
	p.DrainOnRevoke = false
	return p
}

// ooo loses more than the tail of a failed Write: packets behind a lost one may already
// be placed.
func ooo() Profile {
	p := relaxed()
	p.Name = "ooo"
	p.WholePackets = false
	return p
}

// srd keeps AtomicFlushes because the specification promises it. (EFA itself has no
// Atomics.)
func srd() Profile {
	p := ooo()
	p.Name = "srd"
	p.Placement = Blocks128
	p.MaxInline = 32
	return p
}

// iba keeps cells of 8 bytes for Writes that succeed: litmus test 14 (notes 8) holds in
// every named profile. A failed Write may leave any bytes.
func iba() Profile {
	p := ooo()
	p.Name = "iba"
	p.FailedCellBytes = 1
	p.MTU = 256
	p.MaxRdAtomic = 255
	return p
}

func rxe() Profile {
	p := strong()
	p.Name = "rxe"
	p.FenceWaitsAll = true
	p.MTU = 1024
	p.MaxInline = 512
	p.MaxRdAtomic = 128
	return p
}

// ProfileNames returns the names of the named profiles in the order of
// [Profiles].
func ProfileNames() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// ProfileByName returns the profile with the given name: one of [Profiles], with any
// number of knobs changed, as in `relaxed+CellBytes=1+AtomicGlob=true`. The name of the
// result is canonical. Errors wrap [ErrUnknownProfile], [ErrUnknownKnob] or
// [ErrKnobValue].
func ProfileByName(name string) (Profile, error) {
	base, turned, _ := strings.Cut(name, "+")
	p, ok := namedProfile(base)
	if !ok {
		return Profile{}, fmt.Errorf("faults: %w: %q; the profiles are %s%s",
			ErrUnknownProfile, base, strings.Join(ProfileNames(), ", "), mistake.DidYouMean(base, ProfileNames()))
	}
	if base == name {
		return p, nil
	}
	for turn := range strings.SplitSeq(turned, "+") {
		knob, value, _ := strings.Cut(turn, "=")
		var err error
		if p, err = p.WithKnob(knob, value); err != nil {
			return Profile{}, err
		}
	}
	return p, nil
}

func namedProfile(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// WithKnob returns the profile with one knob changed, and named accordingly:
// `strong+DDIO=false`. The knob's name and value may be in any case. Errors wrap
// [ErrUnknownKnob] or [ErrKnobValue] and list the legal names or values.
func (p Profile) WithKnob(name, value string) (Profile, error) {
	k, err := knobByName(name)
	if err != nil {
		return Profile{}, err
	}
	if err := k.set(&p, value); err != nil {
		return Profile{}, fmt.Errorf("faults: %w", k.badValue(value))
	}
	p.Name = variantName(p)
	return p, nil
}

// variantName names a profile after its base and the knobs that differ from it, so that
// equal profiles have equal names.
func variantName(p Profile) string {
	name, _, _ := strings.Cut(p.Name, "+")
	base, ok := namedProfile(name)
	if !ok {
		return p.Name // not derived from a named profile: nothing to compare with
	}
	for _, k := range knobs {
		if value := k.get(&p); value != k.get(&base) {
			name += "+" + k.name + "=" + value
		}
	}
	return name
}
