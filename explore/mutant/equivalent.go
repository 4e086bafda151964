package mutant

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// equivalents reads which mutants are equivalent, and why: a line for each in
// testdata/mutants/PROTOCOL/equivalent, with the ID, a blank and the reason. Its error lists all
// invalid lines.
func equivalents(root, protocol string, set *schema.Set) (map[string]string, error) {
	name := "testdata/mutants/" + filepath.Base(protocol) + "/equivalent"
	text, err := os.ReadFile(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, lines := map[string]string{}, map[string]int{}
	var bad []error
	n := 0
	for l := range strings.Lines(string(text)) {
		n++
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		id := strings.Fields(l)[0]
		reason := strings.TrimSpace(strings.TrimPrefix(l, id))
		wrong := ""
		switch {
		case set.Find(id) == nil:
			wrong = fmt.Sprintf("there is no mutant %s%s: if its function was edited, look at the function's mutants again, and name the one that is meant or remove the line", id, nearest(id, set))
		case reason == "":
			wrong = fmt.Sprintf("%s has no reason: append why no run can show the mutant", id)
		case lines[id] > 0:
			wrong = fmt.Sprintf("%s is in line %d already: remove one of them", id, lines[id])
		}
		if wrong != "" {
			bad = append(bad, fmt.Errorf("%w: %s:%d: %s", ErrPatch, name, n, wrong))
			continue
		}
		out[id], lines[id] = reason, n
	}
	return out, errors.Join(bad...)
}

// nearest names a mutant that may have been meant: one of the same function and operator,
// if there is one.
func nearest(id string, set *schema.Set) string {
	var all, alike []string
	for _, m := range set.Mutants {
		all = append(all, m.ID)
		if at := strings.LastIndex(id, ":"); at > 0 && strings.HasPrefix(m.ID, id[:at+1]) {
			alike = append(alike, m.ID)
		}
	}
	if len(alike) > 0 {
		return " (there are " + strings.Join(alike, ", ") + ")"
	}
	return mistake.DidYouMean(id, all)
}
