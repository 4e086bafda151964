package farm

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The first attempt of which all parts have arrived is the result, in whatever order parts of several arrive, and however
// often.
func TestPartsInAnyOrderMakeTheFirstCompleteResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type sent struct {
			p       part
			attempt int
		}
		var all []sent
		var results []*Result
		left := map[int]map[int]bool{}
		for i := range rapid.IntRange(1, 3).Draw(t, "attempts") {
			r := &Result{Worker: string(rune('a' + i)), Stdout: make([]byte, rapid.IntRange(0, 300).Draw(t, "bytes"))}
			ps, err := parts(1, r.Worker, r, 100)
			if err != nil {
				t.Fatal(err)
			}
			results, left[i] = append(results, r), map[int]bool{}
			for _, p := range ps {
				all, left[i][p.Part] = append(all, sent{p, i}), true
			}
		}
		all = append(all, all...)
		want := -1
		g := newGathered(3)
		for _, x := range rapid.Permutation(all).Draw(t, "order") {
			delete(left[x.attempt], x.p.Part)
			b, err := json.Marshal(x.p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.add(b)
			if err != nil {
				t.Fatal(err)
			}
			if complete := want < 0 && len(left[x.attempt]) == 0; complete != (got == 1) {
				t.Fatalf("part %d of attempt %d: job %d is complete", x.p.Part, x.attempt, got)
			} else if complete {
				want = x.attempt
			}
		}
		if want < 0 || cmp.Diff(results[want], g.results[1]) != "" || g.results[0] != nil || g.results[2] != nil {
			t.Fatalf("the first complete attempt is %d, and the result is another", want)
		}
	})
}

// Whatever a message holds, it is a part, or an error that wraps ErrMalformed.
func FuzzPart(f *testing.F) {
	ps, err := parts(0, "a", &Result{Stdout: []byte("x")}, partSize)
	if err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(ps[0])
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(good), "", "{}", `{"of":1}`, `{"of":1,"data":"bnVsbA=="}`, `{"number":1,"of":999999999}`, `{"of":2,"part":2}`} {
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		g := newGathered(1)
		for _, x := range [][]byte{a, b} {
			if n, err := g.add(x); err != nil && !errors.Is(err, ErrMalformed) || n > 0 || n == 0 && g.results[0] == nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
	})
}

// What no worker sent is no result: an empty one would be a success.
func TestAnEmptyResultIsMalformed(t *testing.T) {
	for _, text := range []string{"null", "{}"} {
		b, err := json.Marshal(part{Of: 1, Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := newGathered(1).add(b); n != -1 || !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
}
