//go:build rdma

package hw

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Destroying a CQ wakes its waiters.
func TestDestroyWakes(t *testing.T) {
	d := open(t, Config{Spin: NoSpin})
	q := must[verbs.CQ](t)(d.CreateCQ(4, nil))
	done := make(chan error)
	go func() {
		_, err := q.Wait(make([]verbs.WC, 1), verbs.Forever)
		done <- err
	}()
	ch := q.(*cq).ch
	for sleeping := false; !sleeping; { // until it sleeps
		ch.mu.Lock()
		sleeping = len(ch.waiters) > 0
		ch.mu.Unlock()
	}
	check(t, q.Destroy())
	wantError(t, <-done, verbs.ErrClosed)
}
