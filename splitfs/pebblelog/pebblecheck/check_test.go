package pebblecheck_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog/pebblecheck"
)

// No crash loses a durable batch. `verbatim-run crash pebble` tries more crashes.
func TestCrashes(t *testing.T) {
	for _, cfg := range []pebblecheck.Config{
		{Way: pebblecheck.File, Points: 60},
		{Points: 60},
		{Points: 150, Writers: 3, Frequency: 4},
		{Points: 150, Writers: 3, Frequency: 64},
	} {
		if testing.Short() {
			cfg.Points /= 5
		}
		r, err := pebblecheck.Check(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", *r)
		if r.Err != nil {
			t.Errorf("%+v: %v", cfg, r.Err)
		}
		if r.Crashes < cfg.Points || r.Power < r.Crashes/2 || r.Batches < 10*cfg.Points {
			t.Error("too few crashes, power failures or batches")
		}
		if !testing.Short() && (cfg.Way != pebblecheck.File && (r.Tables < cfg.Points/2 || r.Replayed < cfg.Points/2) || cfg.Frequency > 1 && r.MostLost == 0 || cfg.Frequency > 9 && r.Behind == 0) {
			t.Error("the crashes did not exercise tables, replay and loss")
		}
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []pebblecheck.Config{{}, {Points: 1, Way: "none"}, {Points: 1, Writers: 65}, {Points: 1, Way: pebblecheck.File, Frequency: 2}} {
		if _, err := pebblecheck.Check(cfg); !errors.Is(err, pebblecheck.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", cfg, err)
		}
	}
}
