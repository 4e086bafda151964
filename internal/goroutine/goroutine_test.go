package goroutine_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/goroutine"
)

func TestGoroutinesHaveNamesOfTheirOwn(t *testing.T) {
	var f goroutine.Flag
	mine, other := goroutine.Name(), make(chan string)
	if f.Raised() {
		t.Error("the zero Flag is raised")
	}
	go func() {
		f.Raise()
		other <- goroutine.Name()
	}()
	if theirs := <-other; mine == "" || mine == theirs || mine != goroutine.Name() {
		t.Errorf("%q and %q", mine, theirs)
	}
	if !f.Raised() {
		t.Error("the flag is not raised")
	}
}
