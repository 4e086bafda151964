package bench

import (
	"context"
	"testing"
)

func TestSim(t *testing.T) {
	emit := func(r Row) error { t.Logf("%+v", r); return nil }
	if err := Verbs(context.Background(), Config{Iters: 1000, Rounds: 3, Depths: []int{1, 16}}, emit); err != nil {
		t.Fatal(err)
	}
	if err := NCL(context.Background(), Config{Iters: 200, Rounds: 3}, emit); err != nil {
		t.Fatal(err)
	}
}
