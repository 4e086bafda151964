package explore

import "testing"

// What two lives of a host have sent is called alike. A counterexample that named it so could
// not be replayed.
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
