package verbstest

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Backend is an implementation of package verbs under test.
type Backend struct {
	// Hosts is how many hosts a Site has, at least 2. Cases that need more are skipped.
	Hosts int
	// Run makes a Site and calls try with it: once, or once for each of its schedules.
	// It returns the first error, with instructions to repeat that run.
	Run func(t *testing.T, try func(Site) error) error
	// Differs lists the backend's known deviations from the specification.
	Differs []Difference
}

// Site is the environment of a case: hosts, numbered from 0, with a card each. Only the
// case's script calls it, from outside all hosts.
type Site interface {
	// Host is a host. Only tasks of that host may use it.
	Host(i int) host.Host
	// Do runs tasks concurrently and returns when all have finished.
	Do(tasks []Task)
	// Cut drops all packets between the cards of two hosts from now on, and Heal
	// restores the link. A backend without these returns an error that wraps
	// [verbs.ErrUnsupported].
	Cut(i, j int) error
	Heal(i, j int) error
}

// Task is work for a host.
type Task struct {
	Host int
	Run  func()
}

// Difference is a completion that deviates from the specification.
type Difference struct {
	Case       string // the case where it occurs
	Want, Says verbs.Status
	Lost       bool // it may be missing
	Why        string
}

// testCase is one case. Its function is called again for each schedule.
type testCase struct {
	name  string
	hosts int // required; 0 is 2
	run   func(t *T)
}

// theme is a group of cases.
type theme struct {
	name  string
	cases []testCase
}

// suite returns all cases.
func suite() []theme {
	return []theme{
		{"verb", verbCases()},
		{"order", orderCases()},
		{"error", errorCases()},
		{"state", stateCases()},
		{"memory", memoryCases()},
		{"lifetime", lifetimeCases()},
		{"receive", receiveCases()},
		{"wait", waitCases()},
		{"queue", queueCases()},
		{"cut", cutCases()},
		{"load", loadCases()},
	}
}

// Run tries all cases on b, each as a subtest called theme/case.
func Run(t *testing.T, b Backend) {
	if b.Hosts < 2 {
		t.Fatalf("verbstest: the backend has %d hosts; give it at least 2", b.Hosts)
	}
	for _, th := range suite() {
		t.Run(th.name, func(t *testing.T) {
			for _, c := range th.cases {
				t.Run(c.name, func(t *testing.T) { b.try(t, th.name+"/"+c.name, c) })
			}
		})
	}
}

// try runs one case.
func (b *Backend) try(t *testing.T, name string, c testCase) {
	if c.hosts > b.Hosts {
		t.Skipf("it takes %d hosts, and there are %d", c.hosts, b.Hosts)
	}
	var skip string
	var notes []string
	err := b.Run(t, func(s Site) error {
		if skip != "" {
			return nil
		}
		x := &T{name: name, site: s, hosts: b.Hosts, differs: b.Differs}
		x.script(c.run)
		skip = x.skip
		for _, n := range x.notes {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
		return x.err
	})
	for _, n := range notes {
		t.Log(n)
	}
	switch {
	case err != nil:
		t.Fatal(err)
	case skip != "":
		t.Skip(skip)
	}
}
