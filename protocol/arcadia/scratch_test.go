package arcadia

import (
	"errors"
	"testing"
	"time"
)

// However many records a log has had, those that are not durable yet alone take memory: each way by which a record
// gives its scratch back is taken a thousand times.
func TestMemoryDoesNotGrow(t *testing.T) {
	for name, c := range map[string]struct {
		ring int
		do   func(l *Log) error
	}{
		"forced":     {64000, func(l *Log) error { return put(t, l, "11111111").Force(1) }},
		"cleaned up": {64, func(l *Log) error { return l.Cleanup(put(t, l, "11111111")) }},
		"all are cleaned up": {64, func(l *Log) error {
			put(t, l, "11111111")
			return l.CleanupAll()
		}},
		"refused": {64, func(l *Log) error {
			for {
				r, err := l.Reserve(8)
				if errors.Is(err, ErrFull) {
					return nil
				}
				if err := errors.Join(err, r.Complete()); err != nil {
					return err
				}
			}
		}},
	} {
		l, _ := newF().open(t, c.ring)
		for range 1000 {
			ok(t, c.do(l))
		}
		if len(l.words) != 1 {
			t.Errorf("records that are %s leave %d regions behind", name, len(l.words))
		}
	}
}

// Records whose scratches are in several regions are all found complete.
func TestForceOfManyRecordsReturns(t *testing.T) {
	l, _ := newF().open(t, 6400)
	var records []*Record
	for range 2*scratches + 8 {
		r, err := l.Reserve(8)
		ok(t, err)
		records = append(records, r)
	}
	for _, r := range records {
		ok(t, r.Complete())
	}
	returns(t, func() error { return records[len(records)-1].Force(1) })
}

// returns fails the test if f returns an error, or not at all.
func returns(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		ok(t, err)
	case <-time.After(patience):
		t.Fatal("it does not return")
	}
}

// patience is far longer than anything here takes. Only a bug waits for it.
const patience = 10 * time.Second
