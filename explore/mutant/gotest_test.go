package mutant

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// examples/mirror has an example that makes the whole way.

// fatal is a test that was ended.
type fatal struct {
	testing.TB
	said error
}

func (f *fatal) Helper() {}

func (f *fatal) Fatal(args ...any) {
	f.said, _ = args[0].(error)
	panic(f)
}

func TestTestEnds(t *testing.T) {
	f := &fatal{TB: t}
	defer func() {
		if recover() != f || !errors.Is(f.said, ErrUnknown) {
			t.Error(f.said)
		}
	}()
	Test(f, ScoreOptions{})
}

// The test that calls is found from functions inside of it, and asked for by its name.
func TestCallingTest(t *testing.T) {
	func() {
		if got := callingTest(); got != "TestCallingTest" {
			t.Errorf("%q", got)
		}
	}()
	x, root, err := newInTest("", []*explore.Scenario{{Name: "a/b"}})
	if err != nil || x.pkg != "explore/mutant" || x.pattern() != "^TestCallingTest$" {
		t.Fatalf("%+v in %s: %v", x, root, err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Error(err)
	}
	if _, _, err := newInTest(string(filepath.Separator), []*explore.Scenario{{}}); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
}

// With a mutant on, a call answers what it is asked, and goes on if that is not for it.
func TestReply(t *testing.T) {
	t.Setenv(schema.Selects, "1")
	if all, err := RunScenarios(t.Context(), ScoreOptions{}); len(all) > 0 || err != nil {
		t.Errorf("a unit test with a mutant on: %v, %v", all, err)
	}
	broken := &explore.Scenario{Name: "a/broken", Build: func(*explore.Case) (sim.Config, error) { return sim.Config{}, errors.New("out of order") }}
	for asked, want := range map[string]string{`{"Scenario": "a/other"}`: "", "{": "unexpected end", `{"Scenario": "a/broken"}`: "out of order"} {
		t.Setenv(questionEnv, asked)
		_, err := RunScenarios(t.Context(), ScoreOptions{}, broken)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", asked, err)
		}
	}
}
