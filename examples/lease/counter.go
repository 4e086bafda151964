package lease

// Read returns the count. It takes no lock.
func Read(m *Memory) (uint64, error) {
	word, err := m.read(countWord)
	return word & counts, err
}

// The count has the lower half of its word, and the token of who wrote it the upper.
const (
	tokenAt = 32
	counts  = 1<<tokenAt - 1
)

// AddTrusting is wrong: it trusts its lease. It looks at the clock before it writes.
func (l *Lock) AddTrusting() (uint64, error) {
	word, err := l.m.read(countWord)
	if err != nil {
		return 0, err
	}
	if l.over() {
		return 0, ErrLost
	}
	return word + 1, l.m.write(countWord, word+1)
}

// Add counts one more. The word names the lock's token, and the card compares: once a
// later holder has written, an earlier one cannot.
func (l *Lock) Add() (uint64, error) {
	word, err := l.m.read(countWord)
	if err != nil {
		return 0, err
	}
	if word>>tokenAt > l.token || l.over() {
		return 0, ErrLost
	}
	count := word&counts + 1
	found, err := l.m.swap(countWord, word, l.token<<tokenAt|count)
	if err == nil && found != word {
		err = ErrLost
	}
	return count, err
}
