package arcadia

import (
	"errors"
	"testing"
)

// An immediate decodes to the encoded range, up to the largest copy. Both sides refuse invalid ranges.
func TestImmediates(t *testing.T) {
	for _, r := range [][2]int{{0, 1}, {8, 8}, {MaxReplicatedSize - 8, 8}, {MaxReplicatedSize - 64, 57}} {
		imm, err := immediate(r[0], r[1], MaxReplicatedSize)
		ok(t, err)
		off, n, err := written(imm, uint32(r[1]), MaxReplicatedSize)
		if ok(t, err); off != r[0] || n != r[1] {
			t.Errorf("%v became %d bytes at %d", r, n, off)
		}
	}
	for _, r := range [][2]int{{-8, 8}, {4, 8}, {0, 0}, {0, -1}, {248, 16}, {256, 8}} {
		if _, err := immediate(r[0], r[1], 256); !errors.Is(err, ErrNonsense) {
			t.Errorf("%v: %v", r, err)
		}
	}
	if _, err := immediate(MaxReplicatedSize, 8, MaxReplicatedSize+8); !errors.Is(err, ErrNonsense) {
		t.Errorf("more than 32 bits: %v", err)
	}
	for _, r := range [][2]uint32{{0, 0}, {31, 16}, {32, 8}, {1<<32 - 1, 8}, {0, 1<<32 - 1}} {
		if _, _, err := written(r[0], r[1], 256); !errors.Is(err, ErrNonsense) {
			t.Errorf("%v: %v", r, err)
		}
	}
}
