// Package stuck finds the line of a scenario's code at which a run of the simulator hangs.
package stuck

import (
	"bytes"
	"path"
	"runtime"
	"slices"
	"strings"
)

// stacks returns the stacks of all goroutines.
func stacks() []byte {
	for size := 1 << 20; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size {
			return b[:n]
		}
	}
}

// Line finds the goroutine that runs scenario code without returning control, and
// returns its innermost line outside the runtime, the simulator and the checker, as
// folder/file.go:line. It returns "" if there is none.
func Line() string {
	for block := range bytes.SplitSeq(stacks(), []byte("\n\n")) {
		text := string(block)
		code := strings.Contains(text, "/verbs/sim.(*coro).call(") && !strings.Contains(text, "/verbs/sim.(*coro).yield(")
		if !code && !strings.Contains(text, "/explore.(*Case).run(") && !strings.Contains(text, "/explore.newCase(") {
			continue
		}
		if !code && strings.Contains(text, "coroswitch") {
			continue // it waits for a task
		}
		if line := userLine(text); line != "" {
			return line
		}
	}
	return ""
}

// userLine returns the innermost line of a scenario or a protocol in a goroutine's stack.
func userLine(stack string) string {
	name := ""
	for line := range strings.Lines(stack) {
		line = strings.TrimRight(line, "\n")
		file, isFile := strings.CutPrefix(line, "\t")
		if !isFile {
			name = line
			continue
		}
		file, _, _ = strings.Cut(file, " +0x")
		if !strings.HasPrefix(name, "created by ") && !foreign(name, file) {
			return path.Base(path.Dir(file)) + "/" + path.Base(file)
		}
	}
	return ""
}

// notCode lists prefixes of functions outside any scenario.
var notCode = []string{"runtime.", "runtime/", "internal/", "iter.", "sync.", "sync/", "time.", "testing.", "panic("}

// foreign reports whether a function is not scenario code, although scenario code may
// call it or be called by it.
func foreign(name, file string) bool {
	return slices.ContainsFunc(notCode, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		strings.Contains(name, "/verbs/sim.") || strings.Contains(name, "/explore/scenario.") || strings.Contains(name, "/explore/sample.") ||
		strings.Contains(name, "/explore.") && !strings.Contains(file, "_test.go:")
}
