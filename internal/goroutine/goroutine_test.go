package goroutine_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/goroutine"
)

func TestGoroutinesHaveNumbersOfTheirOwn(t *testing.T) {
	var f goroutine.Flag
	mine, other := goroutine.ID(), make(chan int64)
	if f.Raised() {
		t.Error("the zero Flag is raised")
	}
	go func() {
		f.Raise()
		other <- goroutine.ID()
	}()
	if theirs := <-other; mine == 0 || mine == theirs || mine != goroutine.ID() {
		t.Errorf("%d and %d", mine, theirs)
	}
	if !f.Raised() {
		t.Error("the flag is not raised")
	}
}
