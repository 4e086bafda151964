package mutant

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
)

// What the command makes of packages, and of what they use, is what the package makes of them.
func TestByCommandMakesTheSame(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	folders, kit := []string{"protocol/arcadia/flex", "protocol/ncl"}, []string{"kit/quorum", "kit/lend"}
	want, err := generate.Generate(t.Context(), root, folders, kit...)
	if err != nil || len(want.Mutants) < 1000 {
		t.Fatal(len(want.Mutants), err)
	}
	got, err := ByCommand(t.Context(), root, folders, kit...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := ByCommand(t.Context(), root, []string{"protocol/none"}); err == nil || !strings.Contains(err.Error(), "protocol/none") {
		t.Errorf("of no package: %v", err)
	}
	if _, err := ByCommand(t.Context(), newTiny(t), []string{"protocol/tiny"}); !errors.Is(err, ErrTool) {
		t.Errorf("in a tree without the command: %v", err)
	}
}

// Options that lack what makes mutants get an error, and no panic.
func TestNothingMakesMutants(t *testing.T) {
	t.Parallel()
	opt := tinyScore(newTiny(t))
	opt.Generate = nil
	if _, err := RunScore(t.Context(), opt); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "generate.Generate") {
		t.Error(err)
	}
}
