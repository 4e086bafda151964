package ncl

import "testing"

// The other limits of a configuration are those of `ncl/limits`. A file of the largest size takes
// more memory than a test should.
func TestSizes(t *testing.T) {
	for size, ok := range map[int]bool{-1: false, 0: false, 1: true, MaxSize: true, MaxSize + 1: false} {
		if validSize(size) != ok {
			t.Errorf("a file of %d bytes is valid: %v", size, !ok)
		}
	}
}
