package explore_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

func stand(t *testing.T, s *explore.Scenario, w explore.Walk) *explore.Stand {
	t.Helper()
	x, err := w.Go(s, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A walk leads from the start to the failure: three ordinary steps, the other number in
// the third, and the ordinary course from there.
func TestWalkToTheFailure(t *testing.T) {
	s := sealed()
	x := stand(t, s, explore.Walk{})
	if x.Walk.Steps != 0 || x.Ended || len(x.Next) != 1 || len(x.Inside) != 0 {
		t.Fatalf("the start is %+v", x)
	}
	for range 3 {
		x = stand(t, s, x.Next[0].Walk)
	}
	if x.Walk.Steps != 3 || len(x.Inside) != 1 || x.Inside[0].Kind != "rand" || x.Inside[0].Taken != 0 || len(x.Inside[0].Ways) != 2 {
		t.Fatalf("after three steps it stands at %+v", x)
	}
	x = stand(t, s, x.Inside[0].Ways[1].Walk)
	if x.Walk.Steps != 3 || x.Inside[0].Taken != 1 || len(x.Walk.Decisions) != 1 {
		t.Fatalf("the other number: %+v", x)
	}
	back := stand(t, s, x.Inside[0].Ways[0].Walk)
	if back.Inside[0].Taken != 0 || len(back.Walk.Decisions) != 0 {
		t.Errorf("back again: %+v", back.Walk)
	}
	for n := 0; !x.Ended && n < 100; n++ {
		x = stand(t, s, x.Next[0].Walk)
	}
	if x.Replay.Err == nil || len(x.Next) != 0 || x.Replay.Record == nil || x.Replay.LastChance != nil {
		t.Errorf("the end is %+v, %v", x, x.Replay.Err)
	}
}

// Every way that a walk offers is possible, and leads where it says.
func TestWalkOffersWhatCanBe(t *testing.T) {
	s := losing()
	x := stand(t, s, explore.Walk{})
	faults, forks := 0, 0
	for n := 0; !x.Ended && n < 100; n++ {
		for i, w := range x.Next {
			y := stand(t, s, w.Walk)
			if y.Walk.Steps != x.Walk.Steps+1 || !slices.Equal(y.Walk.Decisions, w.Walk.Decisions) && len(y.Inside) == 0 {
				t.Errorf("%s leads from %+v to %+v", w.Name, x.Walk, y.Walk)
			}
			if i == 0 && w.Fault {
				t.Errorf("the ordinary course is the fault %s", w.Name)
			}
			if w.Fault {
				faults++
			}
		}
		for _, f := range x.Inside {
			for i, w := range f.Ways {
				if y := stand(t, s, w.Walk); !slices.ContainsFunc(y.Inside, func(g explore.Fork) bool { return g.Kind == f.Kind && g.Taken == i }) {
					t.Errorf("choice %s: %s is not taken in %+v", f.Kind, w.Name, y.Inside)
				}
				forks++
			}
		}
		x = stand(t, s, x.Next[0].Walk)
	}
	if faults == 0 || forks == 0 {
		t.Errorf("%d faults and %d choices inside steps: some kind never occurs", faults, forks)
	}
}

// A search finds the failure from where it is possible, and only from there.
func TestWalkSearches(t *testing.T) {
	s := sealed()
	r, err := explore.Walk{}.Search(s, explore.Options{}, 100)
	if err != nil || r.Found == nil {
		t.Fatalf("%+v %v", r, err)
	}
	if x := stand(t, s, *r.Found); !x.Ended || x.Replay.Err == nil {
		t.Errorf("what was found does not fail: %+v", x)
	}
	if r, err := (explore.Walk{Steps: 4}).Search(s, explore.Options{}, 100); err != nil || r.Found != nil || r.Tried != 100 {
		t.Errorf("after another number was drawn: %+v %v", r, err)
	}
}

func TestWalkErrors(t *testing.T) {
	for _, w := range []explore.Walk{{Steps: -1}, {Steps: 1 << 30}} {
		if _, err := w.Go(sealed(), explore.Options{}); !errors.Is(err, explore.ErrWalk) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if _, err := (explore.Walk{}).Go(sealed(), explore.Options{Profile: "none such"}); !errors.Is(err, explore.ErrOptions) {
		t.Error(err)
	}
}
