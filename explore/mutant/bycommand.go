package mutant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// ByCommand returns a [Generator] that runs the command verbatim-mutate, which the module of the source tree must be able
// to build: that of another module has it as a tool in its go.mod. So verbatim
// itself does not link the Go type checker, which no check needs.
func ByCommand(ctx context.Context, root string, dirs []string, kit ...string) (*schema.Set, error) {
	text, err := command(ctx, root, "go", "run", source.Module+"/cmd/verbatim-mutate", "--kit="+strings.Join(kit, ","), "--", strings.Join(dirs, ","))
	if err != nil {
		return nil, err
	}
	set := &schema.Set{}
	if err := json.Unmarshal(text, set); err != nil {
		return nil, fmt.Errorf("%w: verbatim-mutate: %w", ErrTool, err)
	}
	for i := range set.Mutants {
		set.Mutants[i].Number = i + 1
	}
	return set, nil
}
