package zone

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// act is an operation on a set of timers.
type act struct {
	kind byte // 's' set, 'f' fire, 'd' drop
	id   uint64
}

// spans are the lo and hi of timers, by their numbers.
type spans [][2]int64

// feasible decides by brute force whether times on a grid can be assigned to the acts so
// that every timer fires at an age in its span and none is passed over.
func feasible(acts []act, of spans, grid int64) bool {
	set := map[uint64]int64{}
	var try func(i int, now int64) bool
	try = func(i int, now int64) bool {
		if i == len(acts) {
			return true
		}
		a := acts[i]
		for at := now; at <= grid; at++ {
			for id, since := range set {
				if at-since > of[id][1] {
					return false // it had to fire before
				}
			}
			since, pending := set[a.id]
			if a.kind == 'f' && (!pending || at-since < of[a.id][0]) {
				continue
			}
			if delete(set, a.id); a.kind == 's' {
				set[a.id] = at
			}
			ok := try(i+1, at)
			if delete(set, a.id); pending {
				set[a.id] = since
			}
			if ok {
				return true
			}
		}
		return false
	}
	return try(0, 0)
}

// follow performs acts; every timer in them that fires can fire.
func follow(acts []act, of spans) *Zone {
	z := &Zone{}
	for _, a := range acts {
		z.make(a, of)
	}
	return z
}

func (z *Zone) make(a act, of spans) {
	switch a.kind {
	case 's':
		z.Set(a.id, of[a.id][0], of[a.id][1])
	case 'f':
		z.Fire(a.id)
	case 'd':
		z.Drop(a.id)
	}
}

func drawSpans(t *rapid.T) spans {
	out := make(spans, 4)
	for i := range out {
		hi := rapid.Int64Range(0, 5).Draw(t, fmt.Sprint("hi", i))
		out[i] = [2]int64{rapid.Int64Range(0, hi).Draw(t, fmt.Sprint("lo", i)), hi}
	}
	return out
}

// drawActs draws acts that the zone allows, and calls each before every act.
func drawActs(t *rapid.T, of spans, each func(done []act, z *Zone)) {
	var done []act
	z := &Zone{}
	for i := range rapid.IntRange(1, 7).Draw(t, "acts") {
		each(done, z)
		a := act{rapid.SampledFrom([]byte("ssffd")).Draw(t, fmt.Sprint("kind", i)), rapid.Uint64Range(0, 3).Draw(t, fmt.Sprint("id", i))}
		if _, pending := z.index(a.id); pending == (a.kind == 's') || a.kind == 'f' && !z.CanFire(a.id) {
			continue
		}
		done = append(done, a)
		z = follow(done, of)
	}
	each(done, z)
}

// A timer can fire exactly if some times on the grid allow it. All bounds are whole
// numbers, so fractional times allow nothing more.
func TestAgreesWithBruteForce(t *testing.T) {
	fires, not := 0, 0
	check := func(t *rapid.T) {
		of := drawSpans(t)
		drawActs(t, of, func(done []act, z *Zone) {
			for _, x := range z.timers {
				want := feasible(append(slices.Clone(done), act{'f', x.id}), of, 24)
				if got := z.CanFire(x.id); got != want {
					t.Fatalf("after %v with spans %v: timer %d can fire: %v, by brute force %v", done, of, x.id, got, want)
				}
				if want {
					fires++
				} else {
					not++
				}
			}
		})
	}
	for i := 0; i < 10 || i < 100 && (fires < 1000 || not < 100); i++ { // more with -short, whose checks are few
		rapid.Check(t, check)
	}
	if fires < 1000 || not < 100 {
		t.Errorf("%d timers could fire and %d could not: that compares too little", fires, not)
	}
}

// While timers are pending, one of them can fire: time never stops for good.
func TestTimeGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := drawSpans(t)
		drawActs(t, of, func(done []act, z *Zone) {
			if z.Len() > 0 && !slices.ContainsFunc(z.timers, func(x timer) bool { return z.CanFire(x.id) }) {
				t.Fatalf("after %v with spans %v no timer can fire", done, of)
			}
		})
	})
}

// Acts that are possible with some spans are possible with wider ones: clocks that run
// within a ratio also run within any greater one.
func TestWiderSpansAllowMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := drawSpans(t)
		wide := slices.Clone(of)
		for i := range wide {
			wide[i][0] = rapid.Int64Range(0, wide[i][0]).Draw(t, fmt.Sprint("wide", i))
		}
		drawActs(t, of, func(done []act, z *Zone) {
			w := follow(done, wide)
			for _, x := range z.timers {
				if z.CanFire(x.id) && !w.CanFire(x.id) {
					t.Fatalf("after %v timer %d can fire with spans %v and not with %v", done, x.id, of, wide)
				}
			}
		})
	})
}

// Equal sets of ages have one form, however they were reached. Timers that come and go leave no trace.
func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := drawSpans(t)
		drawActs(t, of, func(done []act, z *Zone) {
			x := follow(done, of)
			x.Set(9, 0, Inf) // it bounds no other timer
			x.Drop(9)
			if a, b := z.Append(nil), x.Append(nil); !slices.Equal(a, b) {
				t.Fatalf("after %v: %v, and with a timer that came and went %v", done, a, b)
			}
		})
	})
	if (&Zone{}).Append(nil) != nil {
		t.Error("a zone without timers has a form")
	}
}

// The moment at which a timer that never fires is forgotten makes no difference to the other
// timers. So the end of a host that has looked at its clock commutes with the steps of other hosts.
func TestForgettingALookCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := append(drawSpans(t), [2]int64{0, Inf}) // the last is another look
		var done []act
		drawActs(t, of, func(x []act, _ *Zone) { done = x })
		began := rapid.IntRange(0, len(done)).Draw(t, "began")
		ended := rapid.IntRange(began, len(done)).Draw(t, "ended")
		var forms [2][]uint64
		for way, end := range [2]int{ended, len(done)} {
			z := &Zone{}
			z.Look(4, 0, Inf)
			for i := range len(done) + 1 {
				if i == began {
					z.Look(9, 0, Inf)
				}
				if i == end {
					z.Drop(9)
				}
				if i == ended { // another host looks, as soon as possible
					lo, _ := z.Age(4)
					z.Look(4, lo, lo)
				}
				if i < len(done) && (done[i].kind != 'f' || z.CanFire(done[i].id)) { // the look may have come too late for this act
					z.make(done[i], of)
				}
			}
			forms[way] = z.Append(nil)
		}
		if !slices.Equal(forms[0], forms[1]) {
			t.Fatalf("%v with spans %v, a look at %d, forgotten at %d: %v, and at the end: %v", done, of, began, ended, forms[0], forms[1])
		}
	})
}

// The order in which timers were set is kept: 3 fires after 2, which began no later.
func TestOrderOfDeadlines(t *testing.T) {
	z := &Zone{}
	z.Set(1, 2, 2)
	z.Set(2, 3, 3)
	if !z.CanFire(1) || z.CanFire(2) {
		t.Errorf("1 can fire: %v, 2 can fire: %v", z.CanFire(1), z.CanFire(2))
	}
	z.Fire(1)
	z.Set(1, 2, 2)
	if !z.CanFire(1) || !z.CanFire(2) {
		t.Errorf("after the first: 1 can fire: %v, 2 can fire: %v", z.CanFire(1), z.CanFire(2))
	}
}

// A timer that fires bounds the ages of the others: 2 has run for no less than 1, and is
// over before 3, which is as short as 1 was.
func TestFiringTellsTheAgeOfOthers(t *testing.T) {
	z := &Zone{}
	z.Set(2, 3, 3)
	z.Set(1, 2, 2)
	z.Fire(1)
	z.Set(3, 2, 2)
	if !z.CanFire(2) || z.CanFire(3) {
		t.Errorf("2 can fire: %v, 3 can fire: %v", z.CanFire(2), z.CanFire(3))
	}
}

func TestLongTimersDoNotOverflow(t *testing.T) {
	z := &Zone{}
	z.Set(7, 5, 5)
	for i := range uint64(6) {
		z.Set(i, Max, Max)
	}
	z.Set(6, Max, Inf)
	if !z.CanFire(7) || z.CanFire(3) || z.CanFire(6) {
		t.Error("the shortest is not the only one that can fire")
	}
	z.Fire(7)
	for i := range uint64(6) {
		if !z.CanFire(i) {
			t.Errorf("%d cannot fire", i)
		}
		z.Fire(i)
	}
	if !z.CanFire(6) {
		t.Error("the one without an end cannot fire")
	}
}
