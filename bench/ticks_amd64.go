package bench

// cycles: ticks are processor cycles, read with the same instruction as in perftest. So
// rounds of both can be compared without the frequency, which perftest guesses badly on
// emulated machines. On some of these machines, reading the clock is a system call.
const cycles = true

// ticks returns the processor's time stamp counter.
func ticks() uint64
