package faults

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// Profile is what a card and its host promise while nothing is broken. The knobs have
// the same names in text; [Profile.Knobs] reports who makes each promise and on what
// evidence. A profile is a plain value: copies are independent and may be changed.
type Profile struct {
	Name string // with the knobs that differ from the named profile, `relaxed+CellBytes=1`

	// Placement is the order in which the bytes of Writes reach the memory of
	// the responder. Strongest: InOrder.
	Placement Placement
	// CellBytes is how many aligned bytes a concurrent observer never sees
	// torn: 8, or 1 for none. Strongest: 8.
	CellBytes int
	// ReadsSeeAcked: a Read or Atomic executed by a card observes everything that this
	// card acknowledged earlier, on any of its queue pairs.
	ReadsSeeAcked bool
	// AtomicFlushes: an Atomic reaches memory after the earlier Writes of its
	// queue pair.
	AtomicFlushes bool
	// AtomicOrdersLater: a later Write does not pass an earlier Atomic of its
	// queue pair.
	AtomicOrdersLater bool
	// FenceWaitsAll: a fence waits for all earlier work, not only for earlier
	// Reads and Atomics.
	FenceWaitsAll bool
	// DrainOnRevoke: when modify_qp(ERR) or dereg_mr returns at the responder,
	// the packets it accepted are in memory.
	DrainOnRevoke bool
	// AtomicGlob: Atomics are atomic against the CPUs of the responder too
	// (ATOMIC_GLOB), not only against other Atomics of the card (ATOMIC_HCA).
	AtomicGlob bool
	// WholePackets: a failed Write leaves its first packets, each whole or not at all.
	// Otherwise it leaves any subset of its cells.
	WholePackets bool
	// FailedCellBytes is how many aligned bytes of a failed Write are never torn if
	// WholePackets is false: 8 or 1. See [Profile.FailedCell].
	FailedCellBytes int

	// MTU is the path MTU: the bytes of payload in one packet. Real paths have
	// 256 to 4096; smaller powers of two scale a scenario down.
	MTU int
	// MaxInline is how many bytes a work request may carry inline.
	MaxInline int
	// MaxRdAtomic is how many Reads and Atomics of a queue pair may be outstanding; one
	// more stalls the head of the send queue.
	MaxRdAtomic int

	// DDIO: arriving data goes to the CPU cache. Otherwise it goes to the memory
	// controller.
	DDIO bool
	// Domain is the persistence domain of the host.
	Domain Domain
	// StoreBuffers: CPUs are x86-TSO, with a store buffer for each task. Otherwise
	// they are sequentially consistent.
	StoreBuffers bool
	// TornLines: a cache line may persist in part, in cells of 8 bytes.
	TornLines bool
	// FlushOps: the card has RDMA Flush and Atomic Write.
	FlushOps bool
}

// FailedCell returns how many aligned bytes of a failed Write are never torn if
// WholePackets is false: the smaller of CellBytes and FailedCellBytes.
func (p Profile) FailedCell() int { return min(p.CellBytes, p.FailedCellBytes) }

// Placement is an order in which the bytes of Writes reach memory.
type Placement uint8

const (
	// InOrder places the Writes of a queue pair in post order, and the bytes of each at
	// increasing addresses.
	InOrder Placement = iota + 1
	// Blocks128 places increasing addresses within every aligned block of 128 bytes of
	// one message; blocks and messages in any order.
	Blocks128
	// AnyOrder places cells in any order, within and between messages. After two Writes
	// to a cell it may hold the value of the first.
	AnyOrder
)

var placementNames = []string{"InOrder", "Blocks128", "AnyOrder"}

// String returns the name of the constant.
func (p Placement) String() string { return enumName("Placement", placementNames, uint8(p)) }

// MarshalText returns the name of the constant.
func (p Placement) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the name of a constant, in any case.
func (p *Placement) UnmarshalText(text []byte) error {
	return parseEnum((*uint8)(p), placementNames, string(text))
}

// Domain is a persistence domain: what survives a power failure.
type Domain uint8

const (
	// Volatile: nothing survives.
	Volatile Domain = iota + 1
	// ADR: data that has reached the memory controller survives; CPU caches are lost,
	// so stores need a flush and a fence.
	ADR
	// EADR: CPU caches survive as well.
	EADR
	// Battery: all of memory survives.
	Battery
)

var domainNames = []string{"Volatile", "ADR", "eADR", "Battery"}

// String returns the name of the domain as vendors write it, eADR for [EADR].
func (d Domain) String() string { return enumName("Domain", domainNames, uint8(d)) }

// MarshalText returns the name of the domain.
func (d Domain) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts the name of a domain, in any case.
func (d *Domain) UnmarshalText(text []byte) error {
	return parseEnum((*uint8)(d), domainNames, string(text))
}

// enumName names a constant that counts from 1.
func enumName(enum string, names []string, value uint8) string {
	if value < 1 || int(value) > len(names) {
		return fmt.Sprintf("%s(%d)", enum, value)
	}
	return names[value-1]
}

func parseEnum(value *uint8, names []string, text string) error {
	for i, name := range names {
		if strings.EqualFold(name, text) {
			*value = uint8(i + 1)
			return nil
		}
	}
	return fmt.Errorf("faults: %q is not one of %s%s", text, strings.Join(names, ", "), mistake.DidYouMean(text, names))
}

var (
	// ErrUnknownKnob is the cause of an error about a knob that does not exist.
	ErrUnknownKnob = errors.New("unknown knob")
	// ErrKnobValue is the cause of an error about an illegal value of a knob.
	ErrKnobValue = errors.New("bad knob value")
)

// Validate reports the first knob with an illegal value, as an error that wraps
// [ErrKnobValue] and names the knob and the legal values.
func (p Profile) Validate() error {
	if p.Name == "" {
		return fmt.Errorf("faults: %w: a profile needs a name", ErrKnobValue)
	}
	for _, k := range knobs {
		if value := k.get(&p); k.set(&Profile{}, value) != nil {
			return fmt.Errorf("faults: profile %s: %w", p.Name, k.badValue(value))
		}
	}
	return nil
}

// WeakerOrEqual reports whether a allows everything that b allows, compared knob by
// knob: a protocol that is correct under a is then correct under b. It is conservative:
// it may report false for profiles that no program can distinguish. Runs with media
// errors are excluded: with TornLines off a whole line goes bad and must be rewritten,
// which is neither weaker nor stronger than losing a word. MaxInline is not compared: a
// program that exceeds it fails at once.
func WeakerOrEqual(a, b Profile) bool {
	for _, k := range knobs {
		if k.weaker != nil && !k.weaker(&a, &b) {
			return false
		}
	}
	return true
}
