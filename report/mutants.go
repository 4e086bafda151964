package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// MutatedFile is a file of the protocol, and the mutants of it that survive.
type MutatedFile struct {
	Name      string
	Mutants   int // in the file
	Survivors []mutant.Judged
	Lines     []string // of the source; empty if it is not known
}

// Files are the files of mutants, with their sources as read finds them.
func Files(all []mutant.Judged, read func(name string) ([]byte, error)) []MutatedFile {
	byName := map[string]*MutatedFile{}
	for _, x := range all {
		f := byName[x.File]
		if f == nil {
			f = &MutatedFile{Name: x.File}
			byName[x.File] = f
		}
		f.Mutants++
		if x.Result == mutant.Survives {
			f.Survivors = append(f.Survivors, x)
		}
	}
	var out []MutatedFile
	for _, f := range byName { //lint:ordered they are sorted below
		slices.SortStableFunc(f.Survivors, func(a, b mutant.Judged) int { return cmp.Compare(a.Line, b.Line) })
		if text, err := read(f.Name); err == nil && len(f.Survivors) > 0 {
			f.Lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		}
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b MutatedFile) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// around is how many lines of source are shown above and below a survivor's.
const around = 3

// excerpt is the source around the survivors of a file, each below its line.
func excerpt(f MutatedFile) []markedLine {
	var out []markedLine
	next, last := 0, 0 // of the survivors, and the line shown last
	for i, text := range f.Lines {
		n := i + 1
		near := func(x mutant.Judged) bool { return x.Line-around <= n && n <= x.Line+around }
		if !slices.ContainsFunc(f.Survivors, near) {
			continue
		}
		if last > 0 && last < n-1 {
			out = append(out, markedLine{Class: "none", Text: "⋯"})
		}
		last = n
		out = append(out, markedLine{Number: n, Class: "none", Mark: " ", Text: strings.ReplaceAll(text, "\t", "    ")})
		for ; next < len(f.Survivors) && f.Survivors[next].Line == n; next++ {
			x := &f.Survivors[next]
			out = append(out, markedLine{Class: "never", Mark: "✗", Text: fmt.Sprintf("%s (%s): %s  ⟶  %s", x.ID, reachedBy(x), x.Before, cmp.Or(x.After, "left out"))})
		}
	}
	return out
}

// reachedBy describes how many scenarios reached a mutant.
func reachedBy(x *mutant.Judged) string {
	if len(x.Reached) == 0 {
		return "no scenario reaches it"
	}
	come := fmt.Sprintf("%d scenarios reach it", len(x.Reached))
	if len(x.Reached) == 1 {
		come = "1 scenario reaches it"
	}
	return fmt.Sprintf("%s, %d searched to the end", come, len(x.Exhausted))
}

// score is the score of mutants in words.
func score(all []mutant.Judged) string {
	s := mutant.NewScore(all)
	return fmt.Sprintf("%s mutants: %s are caught by scenarios, %s by unit tests alone, %s are equivalent, and %s survive. "+
		"Of those that are not equivalent %.1f %% are caught, %.1f %% by scenarios alone.",
		number.Commas(s.Mutants), number.Commas(s.Scenario), number.Commas(s.Test), number.Commas(s.Equivalent), number.Commas(s.Survive), s.Caught, s.Scenarios)
}

// operatorScore is the score of the mutants of one operator.
type operatorScore struct {
	Name schema.Operator
	Does string
	mutant.Score
}

// byOperator returns the scores of the operators that have mutants.
func byOperator(all []mutant.Judged) []operatorScore {
	var out []operatorScore
	for _, op := range schema.Operators {
		of := slices.DeleteFunc(slices.Clone(all), func(x mutant.Judged) bool { return x.Operator != op.Name })
		if len(of) > 0 {
			out = append(out, operatorScore{op.Name, strings.ReplaceAll(op.Does, "`", ""), mutant.NewScore(of)})
		}
	}
	return out
}

// equivalent are the mutants that make no difference.
func equivalent(all []mutant.Judged) []mutant.Judged {
	return slices.DeleteFunc(slices.Clone(all), func(x mutant.Judged) bool { return x.Result != mutant.Equivalent })
}
