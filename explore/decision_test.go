package explore

import "testing"

// Requests of two lives of a host had the same name, so a counterexample with that name
// could not be replayed.
func TestOptionsThatAreCalledAlikeAreToldApart(t *testing.T) {
	names := []string{"none", "a→b#1", "a→b#1", "a→b#1"}
	seen := map[string]bool{}
	for i := range names {
		seen[optionName(names, i)] = true
	}
	if len(seen) != len(names) || optionName(names, 1) != "a→b#1" {
		t.Errorf("%v", seen)
	}
}
