package scenario

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// Different plain values have different fingerprints, in every field.
func TestValuesAreToldApart(t *testing.T) {
	type inner struct {
		a, b uint8
		s    string
	}
	type outer struct {
		n     int
		ok    bool
		wait  time.Duration
		part  float64
		in    inner
		list  []string
		fixed [2]int16
		names map[string]int
		any   any
	}
	all := []outer{
		{}, {n: 1}, {n: -1}, {ok: true}, {wait: 1}, {part: .5}, {in: inner{a: 1}}, {in: inner{b: 1}}, {in: inner{s: "a"}},
		{list: []string{}}, {list: []string{""}}, {list: []string{"a", "b"}}, {list: []string{"ab"}}, {list: []string{"b", "a"}},
		{fixed: [2]int16{1}}, {fixed: [2]int16{0, 1}}, {names: map[string]int{}}, {names: map[string]int{"a": 1}},
		{names: map[string]int{"a": 1, "b": 2}}, {names: map[string]int{"a": 2, "b": 1}}, {any: 1}, {any: int8(1)}, {any: "a"}, {any: inner{a: 1}},
	}
	seen := map[fingerprint.Print]int{}
	for i, x := range all {
		p, err := valuePrint(fingerprint.Print{}, reflect.ValueOf(x))
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[p]; ok {
			t.Errorf("%+v and %+v have one fingerprint", all[j], x)
		}
		seen[p] = i
		if again, _ := valuePrint(fingerprint.Print{}, reflect.ValueOf(x)); again != p {
			t.Errorf("%+v has two fingerprints", x)
		}
	}
	for _, x := range []any{1, uint(1), "", "1", inner{}, struct{}{}, nil, []int(nil)} {
		p, err := anyPrint(fingerprint.Print{}, x)
		if _, ok := seen[p]; ok || err != nil {
			t.Errorf("%#v: %v, or like another one", x, err)
		}
		seen[p] = -1
	}
}

func TestWhatIsNoPlainData(t *testing.T) {
	n := 1
	for _, x := range []any{&n, func() {}, make(chan int), struct{ p *int }{}, []any{&n}, map[string]*int{"a": nil}} {
		if _, err := anyPrint(fingerprint.Print{}, x); !errors.Is(err, ErrValue) {
			t.Errorf("%T: %v", x, err)
		}
	}
}
