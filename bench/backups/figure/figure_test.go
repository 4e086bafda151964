package figure

import (
	"errors"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/backups"
)

type broken struct{}

var errBroken = errors.New("the disk is broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// A curve for each number of groups, and the same drawing each time.
func TestPlot(t *testing.T) {
	points := []backups.Result{{Groups: 100, Backups: 0, Added: 100}, {Groups: 100, Backups: 1, Added: 2}, {Groups: 1000, Backups: 0, Added: 100}}
	var b, again strings.Builder
	if err := errors.Join(Plot(&b, points), Plot(&again, points)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", ">100 groups<", ">1000 groups<", "added seconds per fault"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
	if b.String() != again.String() {
		t.Error("the drawing is another one each time")
	}
	if err := Plot(&b, nil); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	if err := Plot(broken{}, points); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
