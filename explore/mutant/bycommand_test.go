package mutant

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
)

// ByCommand and Generate make the same mutants, of the packages and of the kit functions that they use.
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
		t.Errorf("a package that does not exist: %v", err)
	}
	if _, err := ByCommand(t.Context(), newTiny(t), []string{"protocol/tiny"}); !errors.Is(err, ErrTool) {
		t.Errorf("a tree without verbatim-mutate: %v", err)
	}
}

// RunScore without a Generator returns an error and does not panic.
func TestNothingMakesMutants(t *testing.T) {
	t.Parallel()
	opt := tinyScore(newTiny(t))
	opt.Generate = nil
	if _, err := RunScore(t.Context(), opt); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "generate.Generate") {
		t.Error(err)
	}
}
