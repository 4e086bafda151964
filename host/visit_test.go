package host_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

// turns is a host that visits in the order of the list.
type turns struct{ host.Host }

func (turns) Visit(names []string) host.Visit { return host.InTurn(names) }

func TestInAnyOrderYieldsEachOnceAndMayStop(t *testing.T) {
	names := []string{"a", "b", "c"}
	if got := slices.Collect(host.InAnyOrder(turns{}, names)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("%v", got)
	}
	if got := slices.Collect(host.InAnyOrder(turns{}, nil)); len(got) > 0 {
		t.Errorf("nobody is visited as %v", got)
	}
	for i := range host.InAnyOrder(turns{}, names) {
		if i == 1 {
			break
		} else if i > 1 {
			t.Error("it went on after the break")
		}
	}
	v := host.InTurn(nil)
	for range 3 { // it stays at its end
		if i, ok := v.Next(); ok {
			t.Errorf("visits %d of nobody", i)
		}
	}
}

// What each host says is kept by its index, so the result does not depend on the order.
func ExampleInAnyOrder() {
	var h host.Host = turns{} // any host
	names := []string{"peer1", "peer2", "peer3"}
	said := make([]string, len(names))
	for i := range host.InAnyOrder(h, names) {
		said[i] = "hello, " + names[i]
	}
	fmt.Println(said)
	// Output: [hello, peer1 hello, peer2 hello, peer3]
}
