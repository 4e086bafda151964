package lease

// Read returns the count. It takes no lock.
func Read(m *Memory) (uint64, error) {
	word, err := m.read(countWord)
	return word & counts, err
}

// The lower half of the count word is the count, the upper half the token of its writer.
const (
	tokenAt = 32
	counts  = 1<<tokenAt - 1
)

// AddTrusting is wrong: it checks its lease before it writes, but not when the Write lands.
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

// Add increments the count. The word contains the token of the lock, and the card compares
// it: once a later holder has written, an earlier one cannot.
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
