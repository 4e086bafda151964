package lang

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A test is its canonical form, whatever it was read from.
func TestRoundTrip(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/litmus/*" + Ext)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		test, err := Parse(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		sameAgain(t, test)
	}
	texts := blocks(page(t))
	texts = append(texts, strings.Replace(texts[0], "\ndoc ", "\ndoc several  spaces\tand a\vtab ", 1))
	for _, text := range texts {
		test, err := Parse("page", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		sameAgain(t, test)
	}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func sameAgain(t fataler, test *Test) {
	t.Helper()
	text := Format(test)
	again, err := Parse(test.File, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if d := cmp.Diff(test, again, cmpopts.IgnoreTypes(Pos{}), cmpopts.IgnoreUnexported(Test{})); d != "" {
		t.Fatalf("the canonical form is another test (-before +after):\n%s\n%s", d, text)
	}
	if twice := Format(again); twice != text {
		t.Fatalf("the canonical form has another canonical form:\n%s\n%s", text, twice)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/litmus/*" + Ext)
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		test, err := Parse("f", []byte(text))
		if err != nil {
			if !errors.Is(err, ErrTest) {
				t.Fatalf("%v is no *Error", err)
			}
			return
		}
		sameAgain(t, test)
	})
}
