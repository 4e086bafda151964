// Package lock is a protocol: it is written against a host.
package lock

import (
	"math/rand/v2" // want "import of math/rand/v2 in lock: its numbers are not recorded choices; use host.Host.Rand"
	"slices"
	"sync" // want "use host.Mutex and host.Cond"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

var held = map[string]bool{} // want "package-level variable held: it is written to, so runs and hosts share it"

var mu sync.Mutex // want "package-level variable mu: hosts of one run would share it"

var words = []string{"free", "held"}

func Take(h host.Host, owners map[string]int) []string {
	held["x"] = true
	deadline := time.Now().Add(time.Duration(rand.Int64())) // want "time.Now in lock: it reads the wall clock; use host.Host.Now"
	go func() {                                             // want "go statement in lock: the scheduler does not know its goroutine; use host.Host.Go"
		time.Sleep(time.Until(deadline)) // want "time.Sleep in lock" "time.Until in lock"
	}()
	for name := range owners { // want "range over a map: the order differs from run to run"
		release(name)
	}
	//lint:ordered release forgets the order
	for name := range owners {
		release(name)
	}
	var names []string
	for name := range owners {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func release(string) {}
