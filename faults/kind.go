package faults

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// ErrUnknownKind is the cause of an error about a kind of fault that does not
// exist.
var ErrUnknownKind = errors.New("unknown kind of fault")

// Kind is a kind of fault. The zero value is none.
type Kind uint8

const (
	// Crash, crash(h): the process on h dies. Its DRAM, tasks, queue pairs and
	// connections are lost; persistent memory survives, including data still in CPU
	// caches.
	Crash Kind = iota + 1
	// Power, power(h): the host h loses power. It loses what a crash loses, and
	// whatever the persistence domain ([Profile].Domain) does not cover.
	Power
	// Partition, partition(a,b): the link between a and b is cut. It may heal
	// at any later point, or never.
	Partition
	// Cut, cut(a,b): the link between a and b is cut and never heals.
	Cut
	// Suspect, suspect(h): the others believe h dead and replace it, while h keeps running
	// running, and writing, as a zombie.
	Suspect
	// Revoke, revoke(h): h deregisters the memory regions it lent, at any point.
	Revoke
	// Break, break(a,b): the queue pairs between a and b fail with retry exhaustion
	// because acknowledgements were lost. Requests in flight may have executed wholly,
	// partly or not at all.
	Break
	// Timeout, timeout(h): a timer of h fires although nothing is wrong.
	Timeout
	// Flip, flip(h): a media error flips a bit of h's persistent memory.
	Flip
	// Poison, poison(h): a media error makes some of h's persistent memory unreadable
	// until it is rewritten.
	Poison
	// Ghost, ghost(a,b): a delayed packet of an old connection between a and b is
	// accepted by a new connection that reuses its number.
	Ghost
)

// kinds describes each kind, at the index kind-1.
var kinds = [...]struct {
	name  string
	arity int
}{
	{"crash", 1},
	{"power", 1},
	{"partition", 2},
	{"cut", 2},
	{"suspect", 1},
	{"revoke", 1},
	{"break", 2},
	{"timeout", 1},
	{"flip", 1},
	{"poison", 1},
	{"ghost", 2},
}

// Kinds returns every kind, in the order of their declaration.
func Kinds() []Kind {
	out := make([]Kind, len(kinds))
	for i := range out {
		out[i] = Kind(i + 1)
	}
	return out
}

// KindNames returns the names of all kinds, in the order of [Kinds].
func KindNames() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// ParseKind returns the kind with the given name. The error wraps
// [ErrUnknownKind] and suggests the nearest name.
func ParseKind(name string) (Kind, error) {
	for i, k := range kinds {
		if k.name == name {
			return Kind(i + 1), nil
		}
	}
	return 0, fmt.Errorf("faults: %w: %q%s", ErrUnknownKind, name, mistake.DidYouMean(name, KindNames()))
}

// Valid reports whether k is one of the declared kinds.
func (k Kind) Valid() bool { return k >= 1 && int(k) <= len(kinds) }

// String returns the name that a budget uses for k.
func (k Kind) String() string {
	if !k.Valid() {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kinds[k-1].name
}

// Arity returns how many hosts a fault of this kind involves: 1, 2 for a link, 0 for a
// kind that does not exist.
func (k Kind) Arity() int {
	if !k.Valid() {
		return 0
	}
	return kinds[k-1].arity
}

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.Valid() {
		return nil, fmt.Errorf("faults: %w: %d", ErrUnknownKind, uint8(k))
	}
	return []byte(k.String()), nil
}

// UnmarshalText sets k to the kind with the given name.
func (k *Kind) UnmarshalText(text []byte) error {
	parsed, err := ParseKind(string(text))
	if err == nil {
		*k = parsed
	}
	return err
}
