package programs_test

import (
	"bufio"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

var (
	enumerations = flag.String("enumerations", "../../testdata/programs/enumerations.txt", "the `file` of program patterns")
	each         = flag.Int("each", 5, "programs to take from each pattern, evenly spread; 0 takes all")
)

// Random programs miss some orders of their acts; enumerations cover all of them. By default this test takes a few
// programs of each pattern, under low limits; -each 0 takes all of them, under the full limits.
func TestEnumerations(t *testing.T) {
	if testing.Short() {
		t.Skip("one program after the other, each with one worker: nothing for the race detector; go test ./... runs them")
	}
	f, err := os.Open(*enumerations)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			enumeration(t, line)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// enumerationLimits are low for -each, unless -runs and -states say otherwise.
func enumerationLimits() programs.Limits {
	l := limits()
	if *each > 0 && *runs == 0 {
		l.Runs = min(l.Runs, 5_000)
	}
	if *each > 0 && *states == 0 {
		l.States = min(l.States, 5_000)
	}
	return l
}

func enumeration(t *testing.T, pattern string) {
	all, err := programs.Enumerate(pattern)
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Collect(all)
	n := *each
	if n == 0 || n > len(texts) {
		n = len(texts)
	}
	compared, large, unfinished := 0, 0, 0
	for i := range n {
		text := texts[(2*i+1)*len(texts)/(2*n)]
		p, err := programs.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if p.Validate() != nil {
			continue
		}
		c, err := programs.Compare(p, enumerationLimits())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		compared++
		unfinished += len(c.Unfinished)
		if c.Truth == programs.TooLarge {
			large++
		}
		for _, d := range c.Diffs {
			t.Errorf("%s: %s\n%s", text, c.Cause(), d.String())
		}
	}
	t.Logf("%5d of %5d, %d too large, %d modes unfinished, %d not valid: %s", compared, len(texts), large, unfinished, n-compared, pattern)
	if compared == 0 {
		t.Errorf("no valid program: %s", pattern)
	}
}

// Enumerate expands patterns and rejects malformed ones.
func TestEnumerate(t *testing.T) {
	for pattern, want := range map[string][]string{ //lint:ordered each is compared
		"x | a: end":              {"x | a: end"},
		"[x;y] | a: end":          {"x | a: end", "y | a: end"},
		"x | a: <1: up b, end>":   {"x | a: ", "x | a:  up b", "x | a:  end"},
		"x | a: <1: u; v> w | b:": {"x | a:  w | b:", "x | a:  u; v; w | b:"},
		"x | a: <2: u>":           {"x | a: ", "x | a:  u", "x | a:  u; u"},
	} {
		all, err := programs.Enumerate(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(all); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for _, bad := range []string{"[x", "a: <2 up>", "a: <9: up>", "a: <1: up", "[x<1: y>]"} {
		if _, err := programs.Enumerate(bad); err == nil {
			t.Errorf("Enumerate accepts %q", bad)
		}
	}
}
