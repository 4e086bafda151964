package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const test = `litmus mine
doc    A CPU reads what it has stored.
source us
rule   store-buffer
hosts  A B
dram   B: x

thread B
  store x <- 1
  r = load x

exists r == 1
  strong WANT
`

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "mine.litmus")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{write(t, strings.ReplaceAll(test, "WANT", "Y"))}, &out); err != nil || out.Len() > 0 {
		t.Errorf("a right verdict: %v, %s", err, &out)
	}
	const want = `{"test":"mine","profile":"strong","condition":"r == 1","expected":"N","got":"Y"}` + "\n"
	if err := run([]string{write(t, strings.ReplaceAll(test, "WANT", "N"))}, &out); err != nil || out.String() != want {
		t.Errorf("a wrong verdict: %v\ngot  %swant %s", err, &out, want)
	}
	if err := run([]string{write(t, "litmus")}, &out); err == nil {
		t.Error("no test, and no error")
	}
	if err := run([]string{"none.litmus"}, &out); err == nil {
		t.Error("no file, and no error")
	}
}
