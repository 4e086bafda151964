package mutant

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// part is what a protocol shares with others, and one function that it does not use.
const part = `package part

func More(n int) int {
	return add(n, 1)
}

func add(n, m int) int { return n + m }

func Other(n int) int { return n + 2 }
`

// The sample is a function of the seed, and changed lines are those of git.
func TestChosen(t *testing.T) {
	t.Parallel()
	root := newTiny(t)
	kit := []string{"kit/part"}
	tiny := strings.Replace(tiny, "import \"time\"\n", "import (\n\t\"time\"\n\n\t\""+source.Module+"/kit/part\"\n)\n\nvar P = part.More(1)\n", 1)
	write(t, root, "protocol/tiny/tiny.go", tiny)
	write(t, root, "kit/part/part.go", part)
	set, err := generate.Generate(t.Context(), root, []string{"protocol/tiny"}, kit...)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(opt ScoreOptions) string {
		t.Helper()
		opt.Folders, opt.Kit = []string{"protocol/tiny"}, kit
		list, err := chosen(t.Context(), root, &opt, set)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range list {
			out = append(out, m.ID)
		}
		return strings.Join(out, " ")
	}
	a, b, other := ids(ScoreOptions{Sample: 4, Seed: 1}), ids(ScoreOptions{Sample: 4, Seed: 1}), ids(ScoreOptions{Sample: 4, Seed: 2})
	if a != b || a == other || len(strings.Fields(a)) != 4 {
		t.Errorf("%q, %q and %q", a, b, other)
	}
	var parts []string // each mutant is in one part
	for part := range 3 {
		parts = append(parts, strings.Fields(ids(ScoreOptions{Part: part + 1, Parts: 3}))...)
	}
	whole := strings.Fields(ids(ScoreOptions{}))
	slices.Sort(parts)
	slices.Sort(whole)
	if !slices.Equal(parts, whole) || len(whole) < 6 {
		t.Errorf("the parts have %q, and the whole %q", parts, whole)
	}
	// Without one function the sample is the same but for its mutants.
	edited := &schema.Set{Mutants: slices.DeleteFunc(slices.Clone(set.Mutants), func(m schema.Mutant) bool { return m.Function == "tiny.Grow" })}
	list, err := chosen(t.Context(), root, &ScoreOptions{Sample: 4, Seed: 1}, edited)
	if err != nil || len(list) != 4 {
		t.Fatal(list, err)
	}
	same := 0
	for _, m := range list {
		if strings.Contains(" "+a+" ", " "+m.ID+" ") {
			same++
		}
	}
	if want := 4 - strings.Count(a, "tiny.Grow:"); same != want {
		t.Errorf("%d of %q are still drawn, not %d", same, a, want)
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	if got := ids(ScoreOptions{ChangedSince: "HEAD"}); got != "" {
		t.Errorf("nothing has changed: %s", got)
	}
	opt := tinyScore(root)
	opt.ChangedSince = "HEAD"
	if all, err := RunScore(t.Context(), opt); len(all) > 0 || err != nil {
		t.Errorf("nothing has changed: %v, %v", all, err)
	}
	write(t, root, "protocol/tiny/tiny.go", strings.Replace(tiny, "{ return a + b }", "{ return b + a }", 1))
	if got := ids(ScoreOptions{ChangedSince: "HEAD"}); got != "tiny.Add:arithmetic:1" {
		t.Errorf("changed: %s", got)
	}
	write(t, root, "kit/part/part.go", strings.ReplaceAll(part, "n + ", "n+1+"))
	if got := ids(ScoreOptions{ChangedSince: "HEAD"}); got != "tiny.Add:arithmetic:1 part.add:arithmetic:1" {
		t.Errorf("changed in two packages: %s", got)
	}
	git("add", "kit")
	git("commit", "-q", "-m", "y")
	write(t, root, "protocol/tiny/tiny.go", strings.ReplaceAll(tiny, "n + 0", "0 + n"))
	if all, some := ids(ScoreOptions{ChangedSince: "HEAD"}), ids(ScoreOptions{ChangedSince: "HEAD", Most: 1, Seed: 1}); len(strings.Fields(all)) != 6 || len(strings.Fields(some)) != 1 || !strings.Contains(all, some) {
		t.Errorf("changed: %s, and at most one: %s", all, some)
	}
	if got := ids(ScoreOptions{ChangedSince: "HEAD", Most: 5, Sample: 5, Seed: 1}); got != ids(ScoreOptions{Sample: 5, Seed: 1}) {
		t.Errorf("no room for changed ones: %s", got)
	}
}

// What is wrong with the list of equivalent mutants is said with the line, and how to mend it.
func TestEquivalents(t *testing.T) {
	t.Parallel()
	root := newTiny(t)
	set := &schema.Set{Mutants: []schema.Mutant{{ID: "p.f:swap:1"}, {ID: "p.f:swap:2"}}}
	for text, want := range map[string]string{
		"p.f:swap:1\n":                    "equivalent:1: p.f:swap:1 has no reason: append why",
		"# x\n\np.f:swap:3 it is\n":       "equivalent:3: there is no mutant p.f:swap:3 (there are p.f:swap:1, p.f:swap:2)",
		"p.g:swap:1 it is\n":              "did you mean p.f:swap:1?",
		"p.f:swap:1 x\np.f:swap:1 y\n":    "equivalent:2: p.f:swap:1 is in line 1 already: remove one",
		"b x\nb y\np.f:swap:1\n":          "equivalent:3: p.f:swap:1 has no reason",
		"":                                "",
		"p.f:swap:1 x\np.f:swap:2\ty z\n": "",
		"p.f:swap:1 x\n":                  "",
	} {
		write(t, root, "testdata/mutants/tiny/equivalent", text)
		_, err := equivalents(root, "tiny", set)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, ErrPatch)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The lists of equivalent mutants name mutants that there are.
func TestEquivalentsExist(t *testing.T) {
	t.Parallel()
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range protocols {
		set, err := generate.Generate(t.Context(), root, protocol.folders, protocol.kit...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := equivalents(root, protocol.name, set); err != nil {
			t.Error(err)
		}
	}
}
