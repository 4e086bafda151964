package explore

import (
	"testing"
	"unsafe"
)

// A search keeps every state: what one takes is what bounds it.
func TestStateIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(state{}); n > 32 {
		t.Errorf("a state takes %d bytes, where 32 did", n)
	}
}
