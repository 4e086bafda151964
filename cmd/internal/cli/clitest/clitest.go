// Package clitest calls a command of this module in a test, as a shell does.
package clitest

import (
	"io"
	"os"
	"strings"
	"testing"
)

// Program is a command: it returns the exit status.
type Program func(args []string, stdout, stderr io.Writer) int

// Call runs the program.
func (p Program) Call(args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = p(args, &out, &err)
	return code, out.String(), err.String()
}

// Usage is a command line, and parts of its expected output.
type Usage struct {
	Args           string
	Code           int
	Stdout, Stderr string
}

// Try runs the command line as a test of that name. Without Stderr, standard error must
// stay empty.
func (p Program) Try(t *testing.T, x Usage) {
	t.Helper()
	t.Run(x.Args, func(t *testing.T) {
		code, stdout, stderr := p.Call(strings.Fields(x.Args)...)
		if code != x.Code || !strings.Contains(stdout, x.Stdout) || !strings.Contains(stderr, x.Stderr) {
			t.Errorf("status %d, want %d with %q and %q:\n%s\n%s", code, x.Code, x.Stdout, x.Stderr, stdout, stderr)
		}
		if (stderr == "") != (x.Stderr == "") {
			t.Errorf("on stderr: %s", stderr)
		}
	})
}

// Write writes a file.
func Write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
