package explore

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// Command returns the command that replays a counterexample's file; program is an argument of `go run`, a command line
// that knows the scenario.
func Command(program, file string) string { return "go run " + program + " replay " + Quote(file) }

const fileSuffix = ".counterexample.json"

// FileName returns the file name of a scenario's counterexample.
func FileName(scenario string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r)) {
			return r
		}
		return '-'
	}, strings.TrimLeft(scenario, ".")) + fileSuffix
}

// SaveIn writes ce into a directory under its usual name and returns the path.
func (ce *Counterexample) SaveIn(dir string) (string, error) {
	path := filepath.Join(dir, FileName(ce.Scenario))
	return path, ce.Save(path)
}

// Named returns the scenario with that name, or nil. Regression tests use it.
func Named(list []*Scenario, name string) *Scenario {
	for _, s := range list {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// RegressionTest returns a Go test that fails as long as ce does, ready to paste where the
// variable scenario is ce's scenario.
func RegressionTest(ce *Counterexample) string { return RegressionTestOf(ce, "scenario") }

// RegressionTestOf is RegressionTest with a Go expression for the scenario. The file
// that it is pasted into must import testing and this package.
func RegressionTestOf(ce *Counterexample, scenario string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s keeps %s from coming back in %s:\n", testName(ce), printable(ce.Class), printable(ce.Scenario))
	for line := range strings.Lines(ce.Message) {
		b.WriteString("// " + printable(line) + "\n")
	}
	fmt.Fprintf(&b, "func %s(t *testing.T) {\n", testName(ce))
	fmt.Fprintf(&b, "\texplore.Replays(t, %s, &explore.Counterexample{\n", scenario)
	fmt.Fprintf(&b, "\t\tVersion:  %d,\n\t\tScenario: %q,\n\t\tProfile:  %q,\n\t\tFaults:   %q,\n\t\tTimers:   %q,\n\t\tClass:    %q,\n",
		ce.Version, ce.Scenario, ce.Profile, ce.Faults, ce.timers(), ce.Class)
	if ce.Strengthen != "" {
		fmt.Fprintf(&b, "\t\tStrengthen: %q,\n", ce.Strengthen)
	}
	if len(ce.Decisions) > 0 {
		b.WriteString("\t\tDecisions: []explore.Decision{\n")
		for _, d := range ce.Decisions {
			fmt.Fprintf(&b, "\t\t\t{At: %q, Take: %q},\n", d.At, d.Take)
		}
		b.WriteString("\t\t},\n")
	}
	b.WriteString("\t})\n}\n")
	return b.String()
}

// printable makes a line fit for a comment.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, line)
}

// testName returns the name of a Go test, made from the scenario and the class.
func testName(ce *Counterexample) string {
	words := strings.FieldsFunc(ce.Scenario+" "+ce.Class, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := "Test"
	for _, w := range words {
		first, rest := []rune(w)[0], []rune(w)[1:]
		name += string(unicode.ToUpper(first)) + string(rest)
	}
	return name
}

// Quote quotes s as one word of a shell's command line.
func Quote(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:=@+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
