package lease

import (
	"errors"
	"time"
)

// Lease is how long a client may believe that it has the lock.
const Lease = 10 * time.Millisecond

// ErrLost: the lease has expired, and another client may have the lock.
var ErrLost = errors.New("lease: the lease is over")

// Lock is an acquired lock. Each acquisition has a token, larger than all earlier ones.
type Lock struct {
	m     *Memory
	token uint64
	until time.Duration
	// Inherited: the lock was taken over from a holder that had not released it.
	Inherited bool
}

// The lock word is the token of the last acquisition; its lowest bit is set while the
// lock is held.
func held(word uint64) bool   { return word&1 == 1 }
func next(word uint64) uint64 { return (word>>1+1)<<1 | 1 }

// Take acquires the lock, and waits for it. A client that has seen an unchanged lock
// word for the length of a lease takes the lock over from its holder.
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

// over reports whether the lease has expired by the clock of its holder.
func (l *Lock) over() bool { return l.m.h.Now() >= l.until }

// Release releases the lock, unless another client has taken it over.
func (l *Lock) Release() error {
	_, err := l.m.swap(lockWord, l.token<<1|1, l.token<<1)
	return err
}
