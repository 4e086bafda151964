package bench

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Pin pins all threads of this process to one processor: the last one that it may use,
// or the first one for the answering side. Child processes inherit the affinity. With one
// processor Pin does nothing.
//
// Two spinning processes on one processor disturb each other for a whole time slice.
// Pin pins all threads rather than lock a loop to one thread: the Go runtime interrupts a
// loop every 10 ms, and a locked loop then waits until another thread hands the processor
// back.
func Pin(first bool) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("bench: get the processor affinity: %w", err)
	}
	if set.Count() < 2 {
		return nil
	}
	at := choose(&set, first)
	set.Zero()
	set.Set(at)
	// Otherwise the runtime would set GOMAXPROCS to 1, and then take the only P from a
	// loop during cgo calls.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("bench: list the threads of this process: %w", err)
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err == nil {
			err = unix.SchedSetaffinity(id, &set)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: the thread has exited
			return fmt.Errorf("bench: pin thread %s to processor %d: %w", t.Name(), at, err)
		}
	}
	return nil
}

// choose returns the first or the last processor of the set, which is not empty.
func choose(set *unix.CPUSet, first bool) int {
	at := -1
	for cpu, left := 0, set.Count(); left > 0; cpu++ {
		if set.IsSet(cpu) {
			at = cpu
			left--
			if first {
				break
			}
		}
	}
	return at
}
