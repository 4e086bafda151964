package bench

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/virtual"
)

func TestPaper(t *testing.T) {
	figures, err := Paper(t.Context(), virtual.ConnectX4(), func(s string) { t.Log(s) })
	for _, f := range figures {
		t.Logf("%-10s %-40s %10.2f %10.2f %-3s %.3f %s", f.Of, f.What, f.Paper, f.Ours, f.Unit, f.Ratio(), f.Note)
	}
	if err != nil {
		t.Fatal(err)
	}
}
