package mutant

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// made is a built program, and the number of its active mutant; 0: none, or the program was
// built with a single mutant.
type made struct {
	path   string
	number int
}

func (p made) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return commandWith(ctx, []string{fmt.Sprintf("%s=%d", schema.Selects, p.number)}, dir, p.path, args...)
}

// with returns a program, or with the verb test the tests of a package, with a mutant. It is the
// program with all mutants if they can be built together and this one is among them. Otherwise the
// mutant is built separately, which shows any error. The caller must call done when finished.
func (r *runner) with(m *Mutant, verb, pkg string) (p made, done func(), err error) {
	if n := r.all.number[m.Name]; n > 0 {
		if path, err := r.withAll(verb, pkg); err == nil {
			return made{path, n}, func() {}, nil
		}
	}
	files, err := m.apply(r.root)
	if err != nil {
		return made{}, nil, err
	}
	path, err := r.quickly(m.Name, files, verb, pkg)
	if err != nil {
		return made{}, nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return made{path: path}, func() { os.RemoveAll(filepath.Dir(path)) }, nil
}

// programWithAll builds the command that checks with all mutants, once.
func (r *runner) programWithAll() (*program, error) {
	build, _ := r.built.LoadOrStore(checking, sync.OnceValues(func() (*program, error) {
		return r.build(checking, "together", r.all.files)
	}))
	return build.(func() (*program, error))()
}

// withAll builds a program with all mutants, once. It runs for each, so optimisation pays.
func (r *runner) withAll(verb, pkg string) (string, error) {
	build, _ := r.built.LoadOrStore(verb+" "+pkg, sync.OnceValues(func() (string, error) {
		path, err := r.compiled(filepath.Join("together", verb, filepath.FromSlash(pkg)), r.all.files, verb, pkg)
		if err != nil && r.ctx.Err() == nil {
			r.note(fmt.Sprintf("each mutant is built separately, because they do not build together: %v", err))
		}
		return path, err
	}))
	return build.(func() (string, error))()
}
