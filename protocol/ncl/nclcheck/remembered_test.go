package nclcheck

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// The checks' memory of a file was folded into one number: its creation, its release
// and the write that its recovery had returned could be confused.
func TestNothingThatIsRememberedStandsForAnother(t *testing.T) {
	seen := map[fingerprint.Print]string{}
	ofAll := []string{"nothing", "ended", "open to faults", "an instance", "a session's end"}
	for name, change := range map[string]func(a *app, x *logFile){
		"nothing":            func(*app, *logFile) {},
		"created":            func(_ *app, x *logFile) { x.created = true },
		"released":           func(_ *app, x *logFile) { x.released = true },
		"found 1":            func(_ *app, x *logFile) { x.found = 1 },
		"found 2":            func(_ *app, x *logFile) { x.found = 2 },
		"found 3":            func(_ *app, x *logFile) { x.found = 3 },
		"opened by life 1":   func(_ *app, x *logFile) { x.opened = 1 },
		"the next write":     func(_ *app, x *logFile) { x.next = 1 },
		"the pending offset": func(_ *app, x *logFile) { x.pend.off = 1 },
		"the pending size":   func(_ *app, x *logFile) { x.pend.size = 1 },
		"its number":         func(_ *app, x *logFile) { x.pend.size, x.pendNum = 1, 1 },
		"open to faults":     func(a *app, _ *logFile) { a.open = true },
		"an instance":        func(a *app, _ *logFile) { a.inside = 1 },
		"a session's end":    func(a *app, _ *logFile) { a.expired = true },
		"ended":              func(a *app, _ *logFile) { a.ended = true },
		"a note":             func(a *app, _ *logFile) { a.trail = []string{"a"} },
		"two notes":          func(a *app, _ *logFile) { a.trail = []string{"a", ""} },
		"created, found 1":   func(_ *app, x *logFile) { x.created, x.found = true, 1 },
		"released, found 1":  func(_ *app, x *logFile) { x.released, x.found = true, 1 },
	} {
		a := newApp(scenario.New(&explore.Case{}), workload{second: true})
		change(a, a.files[0])
		p := a.remembered()
		if other, ok := seen[p]; ok {
			t.Errorf("%s and %s are the same", name, other)
		}
		seen[p] = name
		if b := newApp(scenario.New(&explore.Case{}), workload{second: true}); !slices.Contains(ofAll, name) && a.trail == nil {
			if change(b, b.files[1]); b.remembered() == p {
				t.Errorf("%s of one file and of the other are the same", name)
			}
		}
	}
}
