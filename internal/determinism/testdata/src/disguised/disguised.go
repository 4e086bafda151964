// Package disguised is a protocol that reaches past its host in less common ways.
package disguised

import (
	"encoding/gob" // want "import of encoding/gob in disguised: it writes maps in their order"
	"io/ioutil"    // want "import of io/ioutil in disguised: it reaches past the host"
	"maps"
	"path/filepath" // want "import of path/filepath in disguised: it reaches past the host; use path for names"
	"reflect"       // want "import of reflect in disguised: it ranges over maps in their order"
	"slices"
	. "time"

	older "golang.org/x/exp/maps"

	"github.com/verbatim-rdma/verbatim/host"

	"state"
)

var _, _, _ = gob.NewEncoder, ioutil.ReadFile, filepath.Glob

var (
	sorted = []string{"b", "a"} // want "package-level variable sorted: it is written to"
	copied = map[string]int{}   // want "package-level variable copied: it is written to"
	table  = map[string]int{"a": 1}
	clock  = Now // want "time.Now in disguised" "package-level variable clock: hosts of one run would share it"
)

func Variables(host.Host) int {
	slices.Sort(sorted)
	maps.Copy(copied, table)
	state.Calls++ // want "package-level variable state.Calls: it is written to"
	return table["a"] + state.Calls
}

func Orders(m map[string]int, release func(string)) []string {
	keys := maps.Keys[map[string]int] // want "maps.Keys gives an order"
	for k := range keys(m) {
		release(k)
	}
	for _, k := range older.Keys(m) { // want "golang.org/x/exp/maps.Keys gives an order"
		release(k)
	}
	maps.DeleteFunc(m, func(k string, _ int) bool { release(k); return false }) // want "maps.DeleteFunc gives an order"
	return slices.Sorted(maps.Keys(m))
}

func UsedBeforeItIsSorted(m map[string]int, release func(string)) []string {
	var names []string
	for k := range m { // want "range over a map"
		names = append(names, k)
	}
	release(names[0])
	slices.Sort(names)
	return names
}

func GatheredInTwoWays(m map[int]int) (map[int]int, int, int) {
	out, n, bits := map[int]int{}, 0, 0
	for k, v := range m { // want "range over a map"
		out[k] = v
		delete(out, v)
	}
	for _, v := range m { // want "range over a map"
		n += v
		n = max(n, 7)
	}
	for _, v := range m { // want "range over a map"
		bits |= v
		bits &= ^v
	}
	for _, v := range m {
		n += v
		n -= 2
	}
	return out, n, bits
}

func Reflected(m any) int { return reflect.ValueOf(m).Len() }
