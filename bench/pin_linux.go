package bench

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Pin locks the calling goroutine to its thread and the thread to a processor: the
// last one that it may use, or the first one for the side that answers. Programs
// that it starts inherit that. With one processor it does nothing.
//
// Two threads that spin disturb each other for a whole time slice whenever the
// kernel puts them on one processor.
func Pin(first bool) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("bench: which processors may be used: %w", err)
	}
	if set.Count() < 2 {
		return nil
	}
	at, left := -1, set.Count()
	for cpu := 0; left > 0 && (at < 0 || !first); cpu++ {
		if set.IsSet(cpu) {
			at = cpu
			left--
		}
	}
	set.Zero()
	set.Set(at)
	runtime.LockOSThread()
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bench: pin to processor %d: %w", at, err)
	}
	return nil
}
