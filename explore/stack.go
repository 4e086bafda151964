package explore

import (
	"bytes"
	"path"
	"runtime"
	"slices"
	"strings"
)

// stacks are those of all goroutines.
func stacks() []byte {
	for size := 1 << 20; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size {
			return b[:n]
		}
	}
}

// stuckLine finds the goroutine that runs code of a scenario without having given
// control back, and returns the innermost of its lines that is neither the
// runtime's nor the simulator's or the checker's, as folder/file.go:line.
func stuckLine(all []byte) string {
	for block := range bytes.SplitSeq(all, []byte("\n\n")) {
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

// userLine is the innermost line of a scenario or a protocol in a goroutine's stack.
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

// notCode are the beginnings of functions that are no code of a scenario.
var notCode = []string{"runtime.", "runtime/", "internal/", "iter.", "sync.", "sync/", "time.", "testing.", "panic("}

// foreign are functions that are no code of a scenario, although they may be
// called by it or call it.
func foreign(name, file string) bool {
	return slices.ContainsFunc(notCode, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		strings.Contains(name, "/verbs/sim.") || strings.Contains(name, "/explore/scenario.") || strings.Contains(name, "/explore.") && !strings.Contains(file, "_test.go:")
}
