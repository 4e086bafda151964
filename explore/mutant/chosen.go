package mutant

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// chosen returns the mutants that the options select, in order.
func chosen(ctx context.Context, root string, opt *ScoreOptions, set *schema.Set) ([]schema.Mutant, error) {
	all, err := selected(ctx, root, opt, set)
	if err != nil || opt.Parts == 0 {
		return all, err
	}
	var out []schema.Mutant
	for i := opt.Part - 1; i < len(all); i += opt.Parts {
		out = append(out, all[i])
	}
	return out, nil
}

// selected returns the mutants of all parts.
func selected(ctx context.Context, root string, opt *ScoreOptions, set *schema.Set) ([]schema.Mutant, error) {
	take := map[int]bool{}
	all := slices.DeleteFunc(slices.Clone(set.Mutants), func(m schema.Mutant) bool { return slices.Contains(opt.Except, filepath.ToSlash(m.File)) })
	for _, id := range opt.Names {
		m := set.Find(id)
		if m == nil {
			return nil, fmt.Errorf("%w: %q; a mutant is called FUNCTION:OPERATOR:NUMBER, such as %s", ErrUnknown, id, set.Mutants[0].ID)
		}
		take[m.Number] = true
	}
	if opt.Sample > 0 {
		for _, m := range drawn(all, opt.Seed)[:min(opt.Sample, len(all))] {
			take[m.Number] = true
		}
	}
	if opt.ChangedSince != "" {
		lines, err := changed(ctx, root, opt)
		if err != nil {
			return nil, err
		}
		for _, m := range drawn(all, opt.Seed) {
			if lines.has(m.File, m.Line) && (opt.Most == 0 || len(take) < opt.Most) {
				take[m.Number] = true
			}
		}
	}
	if len(opt.Names) == 0 && opt.ChangedSince == "" && opt.Sample == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(m schema.Mutant) bool { return !take[m.Number] }), nil
}

// drawn returns mutants in an order that depends on the seed and their names alone. So a sample, and
// its score, stay nearly the same when code is edited.
func drawn(all []schema.Mutant, seed uint64) []schema.Mutant {
	place := func(m schema.Mutant) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.ID))
		return string(sum[:])
	}
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b schema.Mutant) int { return strings.Compare(place(a), place(b)) })
	return out
}

// changes are ranges of lines by file, from the root.
type changes map[string][][2]int

func (c changes) has(file string, line int) bool {
	return slices.ContainsFunc(c[file], func(r [2]int) bool { return r[0] <= line && line < r[1] })
}

// changed returns the lines of the packages that differ from a git reference. For deleted lines,
// it is the line now in their place.
func changed(ctx context.Context, root string, opt *ScoreOptions) (changes, error) {
	diff, err := command(ctx, root, "git", append([]string{"diff", "--no-ext-diff", "--relative", "--src-prefix=a/", "--dst-prefix=b/", "--unified=0", opt.ChangedSince, "--"}, opt.folders()...)...)
	if err != nil {
		return nil, err
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(diff))
	if err != nil {
		return nil, fmt.Errorf("%w: git diff: %w", ErrTool, err)
	}
	out := changes{}
	for _, f := range files {
		for _, t := range f.TextFragments {
			from := int(t.NewPosition)
			out[f.NewName] = append(out[f.NewName], [2]int{from, from + max(int(t.NewLines), 1)})
		}
	}
	fresh, err := command(ctx, root, "git", append([]string{"ls-files", "--others", "--exclude-standard", "--"}, opt.folders()...)...)
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(string(fresh)) {
		out[strings.TrimSpace(name)] = [][2]int{{0, 1 << 30}}
	}
	return out, nil
}
