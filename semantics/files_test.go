package semantics_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/semantics"
)

var (
	only  = flag.String("only", "", "compare only the files with this in their name")
	limit = flag.Int("limit", 3000, "states that the reference machine may visit")
	whole = flag.Bool("whole", false, "compare the files under all their profiles")
)

// lacking are the files with acts that the reference machine does not have yet.
var lacking = map[string]string{
	"break-from-nobody":     "modify INIT",
	"cut-from-nobody":       "modify INIT",
	"init-silent":           "modify INIT",
	"media-flip":            "flip",
	"media-flip-read":       "flip",
	"media-unreadable":      "poison",
	"media-unreadable-read": "poison",
	"reconnect-old-write":   "modify INIT",
	"reconnect-then-error":  "modify INIT",
	"recv-init-silent":      "modify INIT",
	"sqd-reset":             "modify SQD",
}

func parsed(t *testing.T, pattern string) []*lang.Test {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files", pattern)
	}
	var out []*lang.Test
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, test)
	}
	return out
}

// The two machines reach the same final states in all litmus files.
func TestLitmusFilesEndAlike(t *testing.T) {
	var mu sync.Mutex
	compared, large := 0, []string{}
	left := map[string]int{}
	t.Run("files", func(t *testing.T) {
		for i, test := range parsed(t, "../testdata/litmus/*"+lang.Ext) {
			if !strings.Contains(test.Name, *only) {
				continue
			}
			t.Run(test.Name, func(t *testing.T) {
				t.Parallel()
				profiles := litmus.Profiles(test)
				if !*whole {
					profiles = some(profiles, i)
				}
				for _, profile := range profiles {
					err := alike(t, test, profile)
					mu.Lock()
					why := lacking[test.Name]
					switch {
					case errors.Is(err, semantics.ErrUnsupported):
						left[why]++
						if !strings.HasSuffix(err.Error(), ": "+why) || why == "" {
							t.Errorf("left out because of %q, and the list has %q", err, why)
						}
					case why != "":
						t.Errorf("the machine has %s now: take the file off the list", why)
					case errors.Is(err, semantics.ErrLimit):
						large = append(large, test.Name+" "+profile)
					default:
						compared++
					}
					mu.Unlock()
				}
			})
		}
	})
	slices.Sort(large)
	t.Logf("%d compared; left out, by act: %v; too large for %d states: %v", compared, left, *limit, large)
	if compared < 100 && *only == "" {
		t.Errorf("only %d were compared", compared)
	}
}

// some are the profiles with changed knobs, and one of the named ones: another one in the
// next file.
func some(profiles []string, i int) []string {
	var out, named []string
	for _, p := range profiles {
		if strings.Contains(p, "+") {
			out = append(out, p)
		} else {
			named = append(named, p)
		}
	}
	if len(named) > 0 {
		out = append(out, named[i%len(named)])
	}
	return out
}

// alike compares the machines; the error says why it cannot.
func alike(t *testing.T, test *lang.Test, profile string) error {
	t.Helper()
	d, err := difference(test, profile)
	if err != nil && !errors.Is(err, semantics.ErrUnsupported) && !errors.Is(err, semantics.ErrLimit) {
		t.Errorf("%s: %v", profile, err)
	}
	if d != "" {
		t.Errorf("%s:\n%s", profile, d)
	}
	return err
}

// difference is what the reference machine and the search of the simulator do not have in
// common; the error says why they cannot be compared.
func difference(test *lang.Test, profile string) (string, error) {
	got, err := semantics.Run(test, profile, *limit)
	if err != nil && !errors.Is(err, semantics.ErrRefused) {
		return "", err
	}
	want, err2 := litmus.Run(test, profile, litmus.Options{NoRuns: true, MaxRuns: 60000})
	switch {
	case err2 != nil:
		return "", err2
	case errors.Is(want.Reason, litmus.ErrLimit):
		return "", fmt.Errorf("%w: %w", semantics.ErrLimit, want.Reason)
	case errors.Is(err, semantics.ErrRefused) != errors.Is(want.Reason, litmus.ErrRefused):
		return "", fmt.Errorf("refused: %v / %v", err, want.Reason)
	case err != nil:
		return "", nil // both refuse it
	case errors.Is(want.Reason, litmus.ErrStuck):
		return diff(got.Finals, nil), nil
	case want.Reason != nil:
		return "", want.Reason
	}
	return diff(got.Finals, want.Finals), nil
}

const (
	onlyReference = "only the reference machine: "
	onlySimulator = "only the simulator: "
)

func diff(got, want []string) string {
	var b strings.Builder
	for _, f := range got {
		if !slices.Contains(want, f) {
			fmt.Fprintln(&b, onlyReference+f)
		}
	}
	for _, f := range want {
		if !slices.Contains(got, f) {
			fmt.Fprintln(&b, onlySimulator+f)
		}
	}
	return b.String()
}

// Where the simulator is known to differ, it still does, and in nothing else. The files say
// how, and by which text the reference machine is right.
func TestKnownDifferences(t *testing.T) {
	for _, test := range parsed(t, "testdata/differences/*"+lang.Ext) {
		t.Run(test.Name, func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(test.File, lang.Ext) + ".txt")
			if err != nil && !*update {
				t.Fatal(err)
			}
			got, err := difference(test, litmus.Profiles(test)[0])
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(strings.TrimSuffix(test.File, lang.Ext)+".txt", []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got == "" {
				t.Error("they agree now: move the file to testdata/litmus")
			} else if got != string(want) {
				t.Errorf("they differ in another way:\n%s\nwant:\n%s", got, want)
			}
			verdicts(t, test)
		})
	}
}

// verdicts checks that the reference machine answers the questions of a test as it expects.
func verdicts(t *testing.T, test *lang.Test) {
	t.Helper()
	profile := litmus.Profiles(test)[0]
	want, err := litmus.Run(test, profile, litmus.Options{NoRuns: true})
	if err != nil || want.Reason != nil {
		t.Fatal(err, want.Reason)
	}
	wrong := false
	for i := range want.Rows {
		wrong = wrong || want.Rows[i].Wrong()
	}
	if !wrong {
		t.Error("the simulator answers all questions as the file expects")
	}
}

var update = flag.Bool("update", false, "write how the machines differ")
