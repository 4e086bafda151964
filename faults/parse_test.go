package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func rule(kind Kind, max int, hosts ...string) Rule { return Rule{Kind: kind, Hosts: hosts, Max: max} }

func TestParseBudgetAccepts(t *testing.T) {
	tests := []struct {
		reason, text string
		want         Budget
		canonical    string
	}{
		{"nothing is the empty budget", "", nil, "none"},
		{"spaces alone are the empty budget", " \t ", nil, "none"},
		{"none is the empty budget", " none ", nil, "none"},
		{"one rule", "crash(app)<=1", Budget{rule(Crash, 1, "app")}, "crash(app)<=1"},
		{
			"the example of the documentation", "crash(app)<=1, crash(peer*)<=1, partition(app,peer1)<=1",
			Budget{rule(Crash, 1, "app"), rule(Crash, 1, "peer*"), rule(Partition, 1, "app", "peer1")},
			"crash(app)<=1, crash(peer*)<=1, partition(app,peer1)<=1",
		},
		{
			"spaces between tokens mean nothing", "\tcut ( a ,b ) <= 2 ,timeout( h )<=3",
			Budget{rule(Cut, 2, "a", "b"), rule(Timeout, 3, "h")}, "cut(a,b)<=2, timeout(h)<=3",
		},
		{"no spaces are needed", "crash(a)<=1,power(a)<=1", Budget{rule(Crash, 1, "a"), rule(Power, 1, "a")}, "crash(a)<=1, power(a)<=1"},
		{"a count may be zero", "crash(a)<=0", Budget{rule(Crash, 0, "a")}, "crash(a)<=0"},
		{"the largest count", "crash(a)<=1000", Budget{rule(Crash, 1000, "a")}, "crash(a)<=1000"},
		{"leading zeros are dropped", "crash(a)<=007", Budget{rule(Crash, 7, "a")}, "crash(a)<=7"},
		{"every character of names", "crash(aZ09_./-*)<=1", Budget{rule(Crash, 1, "aZ09_./-*")}, "crash(aZ09_./-*)<=1"},
		{"a host may be called as a kind or a number", "crash(none)<=1, crash(1)<=1", Budget{rule(Crash, 1, "none"), rule(Crash, 1, "1")}, "crash(none)<=1, crash(1)<=1"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			got, err := ParseBudget(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.String() != tt.canonical {
				t.Errorf("String() = %q, want %q", got, tt.canonical)
			}
		})
	}
}

const kindsWanted = "a fault kind (crash, power, partition, cut, suspect, revoke, break, timeout, flip, poison, ghost)"

func TestParseBudgetRejects(t *testing.T) {
	const hostWanted = "a host name or pattern (letters, digits and _ . * / -)"
	tests := []struct {
		reason, text                string
		column                      int
		expected, found, suggestion string
	}{
		{"misspelt kind", "crsh(app)<=1", 1, kindsWanted, `"crsh"`, "crash"},
		{"misspelt kind in a later rule", "crash(a)<=1, partion(a,b)<=1", 14, kindsWanted, `"partion"`, "partition"},
		{"kinds are lower case", "Crash(a)<=1", 1, kindsWanted, `"Crash"`, "crash"},
		{"a kind like no other gets no suggestion", "explode(a)<=1", 1, kindsWanted, `"explode"`, ""},
		{"a kind of other letters", "épanne(a)<=1", 1, kindsWanted, `"épanne"`, ""},
		{"no kind at all", "(a)<=1", 1, kindsWanted, `"("`, ""},
		{"a trailing comma", "crash(a)<=1,", 13, kindsWanted, "end of input", ""},
		{"an empty rule", "crash(a)<=1,,cut(a,b)<=1", 13, kindsWanted, `","`, ""},
		{"a kind alone", "crash", 6, `"("`, "end of input", ""},
		{"no hosts", "crash()<=1", 7, hostWanted, `")"`, ""},
		{"a host with a bad character", "crash(a b)<=1", 9, `")" (crash takes one host)`, `"b"`, ""},
		{"a wildcard that there is not", "crash(peer?)<=1", 11, `")" (crash takes one host)`, `"?"`, ""},
		{"columns count characters, not bytes", "crash(é)<=1", 7, hostWanted, `"é"`, ""},
		{"too many hosts", "crash(a,b)<=1", 8, `")" (crash takes one host)`, `","`, ""},
		{"too few hosts", "partition(a)<=1", 12, `"," and a second host (partition takes two)`, `")"`, ""},
		{"too many hosts for a link", "cut(a,b,c)<=1", 8, `")" (cut takes 2 hosts)`, `","`, ""},
		{"a missing second host", "break(a,)<=1", 9, hostWanted, `")"`, ""},
		{"an open parenthesis", "crash(a", 8, `")" (crash takes one host)`, "end of input", ""},
		{"no bound", "crash(a)", 9, `"<="`, "end of input", ""},
		{"a bound of the wrong sort", "crash(a)=1", 9, `"<="`, `"="`, "<="},
		{"a bound from a text processor", "crash(a) ≤ 1", 10, `"<="`, `"≤"`, "<="},
		{"no spaces inside a token", "crash(a)< =1", 9, `"<="`, `"<"`, "<="},
		{"no count", "crash(a)<=", 11, "a count from 0 to 1000", "end of input", ""},
		{"a negative count", "crash(a)<=-1", 11, "a count from 0 to 1000", `"-1"`, ""},
		{"a count over the limit", "crash(a)<=1001", 11, "a count from 0 to 1000", `"1001"`, ""},
		{"a count that overflows", "crash(a)<= 99999999999999999999", 12, "a count from 0 to 1000", `"99999999999999999999"`, ""},
		{"text after a count", "crash(a)<=1x", 12, `"," or end of input`, `"x"`, ""},
		{"rules need a comma", "crash(a)<=1 crash(b)<=1", 13, `"," or end of input`, `"crash"`, ""},
		{"none stands alone", "none, crash(a)<=1", 5, "end of input after none", `","`, ""},
		{"none is not a rule", "crash(a)<=1, none", 14, kindsWanted, `"none"`, ""},
		{"line breaks are no spaces", "crash(a)<=1,\ncut(a,b)<=1", 13, kindsWanted, `"\n"`, ""},
		{"a rule twice", "crash(a)<=1, crash(a)<=2", 14, "rules that differ", "crash(a) again, as in rule 1", ""},
		{"a link twice, the other way round", "cut(a,b)<=1, cut(b,a)<=1", 14, "rules that differ", "cut(b,a) again, as in rule 1", ""},
		{"one rule too many", manyRules(MaxRules + 1), len(manyRules(MaxRules)) + 3, "at most 64 rules", `"crash"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			got, err := ParseBudget(tt.text)
			if got != nil || !errors.Is(err, ErrSyntax) {
				t.Fatalf("ParseBudget = %v, %v; want no budget and a syntax error", got, err)
			}
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%T, want *SyntaxError", err)
			}
			want := &SyntaxError{Input: tt.text, Column: tt.column, Expected: tt.expected, Found: tt.found, Suggestion: tt.suggestion}
			if diff := cmp.Diff(want, syntax); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkCaret(t, syntax)
		})
	}
}

func manyRules(n int) string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf("crash(h%d)<=1", i)
	}
	return strings.Join(rules, ", ")
}

// checkCaret checks that the caret of the message is under the column.
func checkCaret(t *testing.T, e *SyntaxError) {
	t.Helper()
	if strings.TrimSpace(e.Input) == "" {
		return // there is nothing to show
	}
	lines := strings.Split(e.Error(), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3:\n%v", len(lines), e)
	}
	at := strings.IndexByte(lines[2], '^')
	shown, input := []rune(lines[1]), []rune(e.Input)
	if e.Column > len(input) {
		if at != len(shown) {
			t.Errorf("the caret is not behind the input:\n%v", e)
		}
		return
	}
	want := input[e.Column-1]
	switch {
	case want == '\t':
		want = ' '
	case unicode.IsMark(want), !unicode.IsPrint(want):
		want = '?' // a mark would take no column
	}
	if at >= len(shown) || shown[at] != want {
		t.Errorf("the caret is not under %q:\n%v", want, e)
	}
}

func TestMaxRulesAreAccepted(t *testing.T) {
	if b, err := ParseBudget(manyRules(MaxRules)); err != nil || len(b) != MaxRules {
		t.Errorf("%d rules, %v", len(b), err)
	}
}

func TestLongInputIsExcerpted(t *testing.T) {
	_, err := ParseBudget(manyRules(20) + strings.Repeat("x", 1000))
	if n := len(err.Error()); n > 500 {
		t.Errorf("the message has %d characters:\n%v", n, err)
	}
}
