//go:build !amd64

package oshost

import "sync/atomic"

// canFlush: this build has no instruction to write back cache lines, so persistent
// memory is flushed with msync, DAX or not.
const canFlush = false

func flushLines([]byte) {}

var fence atomic.Uint32

// storeFence orders: an atomic operation is a full barrier in Go.
func storeFence() { fence.Add(1) }
