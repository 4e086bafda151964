package faults

import (
	"strconv"
	"strings"
)

// Limits of a budget.
const (
	MaxRules = 64   // rules in one budget
	MaxCount = 1000 // the largest Max of a rule
)

// Rule bounds one sort of fault: at most Max faults of Kind on hosts that match the
// patterns.
type Rule struct {
	Kind  Kind
	Hosts []string // one pattern, or two for kinds about a link; see the package documentation
	Max   int      // 0 forbids what other rules of the budget allow
}

// String returns the rule as a budget writes it, `crash(peer*)<=1`.
func (r Rule) String() string {
	return r.subject() + "<=" + strconv.Itoa(r.Max)
}

// subject returns the rule without its bound.
func (r Rule) subject() string {
	return r.Kind.String() + "(" + strings.Join(r.Hosts, ",") + ")"
}

// Matches reports whether the rule's patterns match the hosts of a fault, as many as
// the kind takes. For kinds about a link the order of the two hosts does not matter,
// and a host has no link to itself.
func (r Rule) Matches(hosts ...string) bool {
	if len(hosts) != r.Kind.Arity() || len(hosts) != len(r.Hosts) {
		return false
	}
	switch len(hosts) {
	case 1:
		return matchGlob(r.Hosts[0], hosts[0])
	case 2:
		a, b := hosts[0], hosts[1]
		return a != b && (r.matchesPair(a, b) || r.matchesPair(b, a))
	}
	return false
}

func (r Rule) matchesPair(a, b string) bool {
	return matchGlob(r.Hosts[0], a) && matchGlob(r.Hosts[1], b)
}

// sameSubject reports whether both rules bound the same faults by the same
// patterns.
func (r Rule) sameSubject(o Rule) bool {
	if r.Kind != o.Kind || len(r.Hosts) != len(o.Hosts) {
		return false
	}
	switch len(r.Hosts) {
	case 1:
		return r.Hosts[0] == o.Hosts[0]
	case 2:
		a, b := r.Hosts[0], r.Hosts[1]
		return a == o.Hosts[0] && b == o.Hosts[1] || a == o.Hosts[1] && b == o.Hosts[0]
	}
	return false
}

// Budget bounds the faults of a run. The empty budget allows none.
type Budget []Rule

// String returns the canonical text of the budget: its rules in their order, or "none".
// Parsing it returns the same budget.
func (b Budget) String() string {
	if len(b) == 0 {
		return none
	}
	rules := make([]string, len(b))
	for i, r := range b {
		rules[i] = r.String()
	}
	return strings.Join(rules, ", ")
}

// MarshalText returns the canonical text of the budget.
func (b Budget) MarshalText() ([]byte, error) {
	if err := b.validateRules(); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// UnmarshalText parses the text as [ParseBudget] does.
func (b *Budget) UnmarshalText(text []byte) error {
	parsed, err := ParseBudget(string(text))
	if err == nil {
		*b = parsed
	}
	return err
}

// Spent counts, for each rule of a budget, the faults charged to it so far. The
// zero value is a fresh budget.
type Spent [MaxRules]uint16

// Allows reports whether one more fault fits: some rule matches it, and every
// rule that matches it has room.
func (b Budget) Allows(spent Spent, k Kind, hosts ...string) bool {
	matched := false
	for i, r := range b {
		if r.Kind != k || !r.Matches(hosts...) {
			continue
		}
		if int(spent[i]) >= r.Max {
			return false
		}
		matched = true
	}
	return matched
}

// Spend charges a fault to every rule that matches it and returns the result.
// Ask [Budget.Allows] first.
func (b Budget) Spend(spent Spent, k Kind, hosts ...string) Spent {
	for i, r := range b {
		if r.Kind == k && r.Matches(hosts...) {
			spent[i]++
		}
	}
	return spent
}
