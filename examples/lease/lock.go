package lease

import (
	"errors"
	"time"
)

// Lease is how long a client may believe that it has the lock.
const Lease = 10 * time.Millisecond

// ErrLost: the lease is over, and another client may have the lock.
var ErrLost = errors.New("lease: the lease is over")

// Lock is a lock that was taken. Each taking has a token, greater than those before.
type Lock struct {
	m     *Memory
	token uint64
	until time.Duration
	// Inherited: it was taken from a holder that had not given it back.
	Inherited bool
}

// The lock word is the token of the last taking, and in the lowest bit whether the lock
// is held.
func held(word uint64) bool   { return word&1 == 1 }
func next(word uint64) uint64 { return (word>>1+1)<<1 | 1 }

// Take waits for the lock. A holder that does not give it back loses it: whoever has
// seen the same taking for as long as a lease may take it over.
func Take(m *Memory) (*Lock, error) {
	for guess := uint64(0); ; {
		start := m.h.Now()
		found, err := m.swap(lockWord, guess, next(guess))
		if err != nil {
			return nil, err
		}
		if found == guess {
			return &Lock{m: m, token: next(guess) >> 1, until: start + Lease, Inherited: held(guess)}, nil
		}
		if guess = found; held(guess) {
			m.h.Sleep(Lease)
		}
	}
}

// over reports whether the lease is over by the clock of its holder.
func (l *Lock) over() bool { return l.m.h.Now() >= l.until }

// Release gives the lock back, unless another client has taken it.
func (l *Lock) Release() error {
	_, err := l.m.swap(lockWord, l.token<<1|1, l.token<<1)
	return err
}
