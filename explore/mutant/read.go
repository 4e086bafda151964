package mutant

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ErrResults: a file has no results of generated mutants, or results of different code.
var ErrResults = errors.New("mutant: bad results")

// ReadResults reads a file of results that [RunScore] kept, or the output of `verbatim mutants
// --generate --json`.
func ReadResults(name string) ([]Judged, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	var out []Judged
	at := map[string]int{} // a later result of a mutant replaces an earlier one
	for n := 1; lines.Scan(); n++ {
		var x Judged
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrResults, name, n, err)
		}
		if i, again := at[x.ID]; again {
			out[i] = x
		} else if x.ID != "" { // others are its head, and the score
			at[x.ID] = len(out)
			out = append(out, x)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrResults, name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s has none: the file must be the output of verbatim mutants PROTOCOL --generate --json", ErrResults, name)
	}
	return out, nil
}

// Locate sets the lines of mutants to those of the current source tree around dir; generate is as
// [ScoreOptions.Generate]. It fails if a mutant no longer exists: the results belong to other code.
func Locate(ctx context.Context, generate Generator, dir string, folders, kit []string, all []Judged) error {
	root, err := findRoot(dir)
	if err != nil {
		return err
	}
	set, err := generate(ctx, root, folders, kit...)
	if err != nil {
		return err
	}
	for i := range all {
		x := &all[i]
		m := set.Find(x.ID)
		if m == nil || m.Before != x.Before || m.After != x.After {
			return fmt.Errorf("%w: no mutant %s of the current code makes %q of %q: the results are of different code, so generate them again", ErrResults, x.ID, x.After, x.Before)
		}
		x.Mutant = *m
	}
	return nil
}
