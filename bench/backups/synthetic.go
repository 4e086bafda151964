package backups

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Assumptions are the parameters of a synthetic trace.
type Assumptions struct {
	Machines int
	Days     float64
	Rate     float64 // failures of a machine in a day
	// Bursty is the share of the failures in bursts. Burst is the mean number of machines
	// in a burst, which fail at the same moment.
	Bursty, Burst float64
	Repair        time.Duration // until a machine is back
	Seed          uint64
}

// Defaults have the size and the length of the paper's trace. The rate is roughly that of
// failures and maintenance in such a cluster, a few per machine and year; half of them are in
// bursts. These are our own round figures, not fitted to data.
func Defaults() Assumptions {
	return Assumptions{Machines: 12500, Days: 29, Rate: 0.025, Bursty: 0.5, Burst: 50, Repair: 30 * time.Minute, Seed: 1}
}

// Limits of the simulation.
const (
	MaxMachines = 1 << 22
	MaxDays     = 10000
	maxFailures = 1 << 25
)

func (a *Assumptions) validate() error {
	share := a.Bursty >= 0 && a.Bursty <= 1
	switch {
	case a.Machines < 1 || a.Machines > MaxMachines:
		return fmt.Errorf("%w: %d machines; want 1 to %d", ErrConfig, a.Machines, MaxMachines)
	case !(a.Days > 0) || a.Days > MaxDays:
		return fmt.Errorf("%w: %v days; want more than 0, and at most %d", ErrConfig, a.Days, MaxDays)
	case !(a.Rate >= 0) || a.Rate*a.Days*float64(a.Machines) > maxFailures:
		return fmt.Errorf("%w: a rate of %v failures of a machine in a day; it must not be negative, and at most %d failures in all", ErrConfig, a.Rate, maxFailures)
	case !share || !(a.Burst >= 1) || math.IsInf(a.Burst, 0):
		return fmt.Errorf("%w: a share of %v in bursts of %v machines; want a share from 0 to 1, and at least 1 machine", ErrConfig, a.Bursty, a.Burst)
	case a.Repair <= 0 || a.Repair > MaxDays*day:
		return fmt.Errorf("%w: %v until a machine is back; want more than 0, and at most %d days", ErrConfig, a.Repair, MaxDays)
	}
	return nil
}

const day = 24 * time.Hour

// Synthetic makes a trace. Single machines fail at random, all at the same rate. Bursts occur
// at random too; their sizes have a geometric distribution, and any machine may be in a burst.
// A machine that is down does not fail. The same assumptions make the same trace.
func Synthetic(a Assumptions) (*Trace, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(a.Seed, 0x5316)) // a separate stream
	perDay := a.Rate * float64(a.Machines)
	var hits []Event
	arrivals(rng, perDay*(1-a.Bursty), a.Days, func(at time.Duration) {
		hits = append(hits, Event{At: at, Machine: rng.IntN(a.Machines)})
	})
	arrivals(rng, perDay*a.Bursty/a.Burst, a.Days, func(at time.Duration) {
		for range geometric(rng, a.Burst, a.Machines) {
			hits = append(hits, Event{At: at, Machine: rng.IntN(a.Machines)})
		}
	})
	slices.SortStableFunc(hits, byTime)
	t := &Trace{Machines: a.Machines, Up: a.Machines, Source: fmt.Sprintf("synthetic, seed %d: %d machines, %v days, %v failures of a machine in a day, %v of them in bursts of %v machines, back after %v",
		a.Seed, a.Machines, a.Days, a.Rate, a.Bursty, a.Burst, a.Repair)}
	back := make([]time.Duration, a.Machines)
	for _, e := range hits {
		if e.At >= back[e.Machine] {
			back[e.Machine] = e.At + a.Repair
			t.Events = append(t.Events, e, Event{back[e.Machine], e.Machine, true})
		}
	}
	slices.SortStableFunc(t.Events, byTime)
	return t, nil
}

// byTime orders events. Of events at one moment, the return of a machine is first, since the
// machine may fail again.
func byTime(a, b Event) int {
	if a.At != b.At {
		return cmp.Compare(a.At, b.At)
	}
	switch {
	case a.Up == b.Up:
		return 0
	case a.Up:
		return -1
	}
	return 1
}

// arrivals calls f at the times of a Poisson process.
func arrivals(rng *rand.Rand, perDay, days float64, f func(at time.Duration)) {
	if perDay <= 0 {
		return
	}
	for at := rng.ExpFloat64() / perDay; at < days; at += rng.ExpFloat64() / perDay {
		f(max(time.Microsecond, time.Duration(at*float64(day)).Truncate(time.Microsecond)))
	}
}

// geometric returns a number from 1 with a mean, at most most.
func geometric(rng *rand.Rand, mean float64, most int) int {
	n := 1
	for n < most && rng.Float64() >= 1/mean {
		n++
	}
	return n
}
