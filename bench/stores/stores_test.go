package stores_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench/stores"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

func open() (verbs.Device, error) { return soft.Open(soft.Config{}) }

// Every system executes every workload, and each round of each is measured.
func TestEverySystemExecutesEveryWorkload(t *testing.T) {
	c := stores.Config{Workloads: []string{"A", "B", "C", "D", "F"}, Records: 20, Operations: 30, Rounds: 2, Clients: 3, Open: open}
	var done []string
	c.Done = func(r stores.Row) error { done = append(done, r.Workload+r.System); return nil }
	rows, err := stores.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Workload+r.System)
		if len(r.Rates) != 2 || r.Rate <= 0 || r.P50 <= 0 || r.P99 < r.P50 || r.Ratio.Median <= 0 || r.System == stores.Systems[0] && r.Ratio.Median != 1 {
			t.Errorf("%+v", r)
		}
	}
	want := strings.Fields("Asift Asift-ec Araftr Bsift Bsift-ec Braftr Csift Csift-ec Craftr Dsift Dsift-ec Draftr Fsift Fsift-ec Fraftr")
	if !slices.Equal(got, want) || !slices.Equal(done, want) {
		t.Errorf("%v, done %v", got, done)
	}
}

// A measurement that is stopped returns the reason and the rows so far.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c := stores.Config{Systems: []string{"raftr"}, Workloads: []string{"C", "A"}, Records: 4, Operations: 8, Rounds: 1, Clients: 1, Open: open}
	c.Done = func(stores.Row) error { stop(); return nil }
	rows, err := stores.Run(ctx, c)
	if !errors.Is(err, context.Canceled) || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// A bad configuration is refused before any host starts, and an error of a device names its host.
func TestRefused(t *testing.T) {
	broken := errors.New("no such device")
	for _, x := range []struct {
		c    stores.Config
		want string
	}{
		{stores.Config{Open: open, Systems: []string{"sift", "epaxos"}}, `system "epaxos": want some of [sift sift-ec raftr]`},
		{stores.Config{Open: open, Systems: []string{"sift", "sift"}}, "each once"},
		{stores.Config{Open: open, Systems: []string{}}, "no system"},
		{stores.Config{Open: open, Workloads: []string{"E"}}, "no store can scan"},
		{stores.Config{Open: open, Workloads: []string{"G"}}, `workload "G"`},
		{stores.Config{Open: open, Rounds: -1}, "-1 rounds: want 1 to 1000"},
		{stores.Config{Open: open, F: 8}, "8 failures"},
		{stores.Config{Open: open, Rounds: 1000, Operations: 1_000_000}, "at most 10000000"},
		{stores.Config{}, "Open is nil"},
		{stores.Config{Open: func() (verbs.Device, error) { return nil, broken }}, "start sift: open a device for mem1: no such device"},
	} {
		if _, err := stores.Run(t.Context(), x.c); err == nil || !strings.Contains(err.Error(), x.want) || errors.Is(err, stores.ErrConfig) == errors.Is(err, broken) {
			t.Errorf("%+v: %v, want %q", x.c, err, x.want)
		}
	}
}
