package faults

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func genRule() *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		kind := rapid.SampledFrom(Kinds()).Draw(t, "kind")
		pattern := rapid.StringMatching(`[A-Za-z0-9_.*/-]{1,6}`)
		return Rule{
			Kind:  kind,
			Hosts: rapid.SliceOfN(pattern, kind.Arity(), kind.Arity()).Draw(t, "hosts"),
			Max:   rapid.IntRange(0, MaxCount).Draw(t, "max"),
		}
	})
}

func genBudget() *rapid.Generator[Budget] {
	return rapid.Custom(func(t *rapid.T) Budget {
		var b Budget
		for _, r := range rapid.SliceOfN(genRule(), 0, MaxRules).Draw(t, "rules") {
			if b.find(r) < 0 {
				b = append(b, r)
			}
		}
		return b
	})
}

func TestParsingTheTextOfABudgetGivesItBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genBudget().Draw(t, "budget")
		got, err := ParseBudget(want.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func TestRuleMatches(t *testing.T) {
	tests := []struct {
		reason string
		rule   Rule
		hosts  []string
		want   bool
	}{
		{"an exact name", rule(Crash, 1, "app"), []string{"app"}, true},
		{"a name is matched whole", rule(Crash, 1, "app"), []string{"app2"}, false},
		{"a trailing star", rule(Crash, 1, "peer*"), []string{"peer12"}, true},
		{"a star may stand for nothing", rule(Crash, 1, "peer*"), []string{"peer"}, true},
		{"an inner star", rule(Crash, 1, "p*1"), []string{"peer1"}, true},
		{"a star does not stand for a slash", rule(Crash, 1, "*"), []string{"rack1/peer"}, false},
		{"no other wildcards", rule(Crash, 1, "peer?"), []string{"peer1"}, false},
		{"a link", rule(Cut, 1, "a", "b"), []string{"a", "b"}, true},
		{"a link has no direction", rule(Cut, 1, "a", "b"), []string{"b", "a"}, true},
		{"both ends have to match", rule(Cut, 1, "a", "b"), []string{"a", "c"}, false},
		{"overlapping patterns match both ways", rule(Cut, 1, "*", "p*"), []string{"p1", "app"}, true},
		{"no host has a link to itself", rule(Cut, 1, "*", "*"), []string{"a", "a"}, false},
		{"too many hosts", rule(Crash, 1, "*"), []string{"a", "b"}, false},
		{"too few hosts", rule(Cut, 1, "*", "*"), []string{"a"}, false},
		{"a rule without hosts", rule(Crash, 1), []string{"a"}, false},
		{"no kind", Rule{}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			if got := tt.rule.Matches(tt.hosts...); got != tt.want {
				t.Errorf("%v matches %v: %v", tt.rule, tt.hosts, got)
			}
		})
	}
}

func TestBudgetValidate(t *testing.T) {
	hosts := []string{"app", "peer1", "peer2"}
	tests := []struct {
		reason string
		budget Budget
		cause  error
		says   []string
	}{
		{"no faults", nil, nil, nil},
		{"all match", Budget{rule(Crash, 1, "peer*"), rule(Cut, 1, "app", "*2")}, nil, nil},
		{"a host that there is not", Budget{rule(Crash, 1, "witness")}, ErrUnknownHost, []string{`"witness" matches no host`, "app, peer1, peer2"}},
		{"a misspelt host", Budget{rule(Cut, 1, "app", "per1")}, ErrUnknownHost, []string{`"per1"`, "did you mean peer1?"}},
		{"a misspelt pattern", Budget{rule(Crash, 1, "per*")}, ErrUnknownHost, []string{`"per*"`, "did you mean peer1?"}},
		{"a link of a host to itself", Budget{rule(Cut, 1, "app", "ap*")}, ErrUnknownHost, []string{"two different hosts"}},
		{"no kind", Budget{rule(0, 1, "app")}, ErrBadRule, []string{"unknown kind"}},
		{"a wrong number of hosts", Budget{rule(Cut, 1, "app")}, ErrBadRule, []string{"cut takes 2 hosts, not 1"}},
		{"a bad name", Budget{rule(Crash, 1, "a b")}, ErrBadRule, []string{`"a b"`}},
		{"no name", Budget{rule(Crash, 1, "")}, ErrBadRule, []string{`""`}},
		{"a negative count", Budget{rule(Crash, -1, "app")}, ErrBadRule, []string{"0 to 1000"}},
		{"a rule twice", Budget{rule(Cut, 1, "app", "peer1"), rule(Cut, 2, "peer1", "app")}, ErrBadRule, []string{"already by rule 1"}},
		{"too many rules", make(Budget, MaxRules+1), ErrBadRule, []string{"at most 64"}},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			err := tt.budget.Validate(hosts)
			if !errors.Is(err, tt.cause) {
				t.Fatalf("%v, want %v", err, tt.cause)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v\ndoes not say %q", err, s)
				}
			}
		})
	}
}

func TestEveryMatchingRuleHasToHaveRoom(t *testing.T) {
	b, err := ParseBudget("crash(*)<=2, crash(a)<=1, crash(w)<=0")
	if err != nil {
		t.Fatal(err)
	}
	var spent Spent
	steps := []struct {
		host string
		want bool
	}{{"a", true}, {"a", false}, {"w", false}, {"b", true}, {"c", false}}
	for _, s := range steps {
		if got := b.Allows(spent, Crash, s.host); got != s.want {
			t.Fatalf("crash(%s) allowed: %v, spent %v", s.host, got, spent[:len(b)])
		}
		if s.want {
			spent = b.Spend(spent, Crash, s.host)
		}
	}
	if b.Allows(Spent{}, Power, "a") {
		t.Error("a fault that no rule mentions is allowed")
	}
}

func TestKindsReadTheirOwnNames(t *testing.T) {
	for _, k := range Kinds() {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
		if a := k.Arity(); a != 1 && a != 2 {
			t.Errorf("%v has arity %d", k, a)
		}
	}
	if k := Kind(99); k.Valid() || k.Arity() != 0 || k.String() != "Kind(99)" {
		t.Error(k)
	}
	if _, err := ParseKind("tiemout"); !errors.Is(err, ErrUnknownKind) || !strings.Contains(err.Error(), "did you mean timeout?") {
		t.Error(err)
	}
}

func TestBudgetInJSONIsItsText(t *testing.T) {
	type artefact struct{ Faults Budget }
	want := artefact{Budget{rule(Crash, 1, "app")}}
	text, err := json.Marshal(want)
	var got artefact
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v\n%s", text, err, diff)
	}
	if _, err := json.Marshal(artefact{make(Budget, 1)}); !errors.Is(err, ErrBadRule) {
		t.Errorf("a budget that no text can say was written: %v", err)
	}
}
