package bench

// cycles: ticks are the processor's cycles as perftest counts them. It reads them
// with the same instruction, so that rounds of ours and of theirs can be compared
// without the frequency, which perftest guesses badly on emulated machines. Reading
// the system's clock instead is a call into the kernel on some of them.
const cycles = true

// ticks is the processor's time stamp counter.
func ticks() uint64
