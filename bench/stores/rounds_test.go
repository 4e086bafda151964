package stores

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

// asked notes which system was asked.
type asked struct {
	name  string
	empty bool
	log   *[]string
	mu    *sync.Mutex
}

func (a asked) Put(key, value []byte) error { return nil }

func (a asked) Get(key []byte) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*a.log = append(*a.log, a.name)
	return !a.empty, nil
}

// Every system executes all operations of a round, also if the number of clients does not divide them, and each system
// goes first in turn. A missing record ends the measurement.
func TestSystemsTakeTurns(t *testing.T) {
	var log []string
	var mu sync.Mutex
	c := &Config{Workloads: []string{"C"}, Records: 4, Operations: 5, Rounds: 3, Clients: 2}
	group := func(name string, empty bool) *measured {
		x := asked{name, empty, &log, &mu}
		return &measured{system: &system{name: name}, c: c, clients: []client{x, x}}
	}
	all := []*measured{group("a", false), group("b", false)}
	if _, err := c.workload(t.Context(), "C", all); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, ""); got != "aaaaabbbbb"+"bbbbbaaaaa"+"aaaaabbbbb" {
		t.Errorf("asked: %s", got)
	}
	if _, err := c.workload(t.Context(), "C", []*measured{group("c", true)}); !errors.Is(err, ErrLost) {
		t.Errorf("without records: %v", err)
	}
}
