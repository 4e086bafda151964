package semantics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/litmus"
)

// absent are the rules of docs/semantics.md that the machine does not have yet.
var absent = map[string]string{
	"media-flip":       "flip",
	"media-unreadable": "poison",
	"atomic-replay":    "packets are not repeated",
}

// Every rule of docs/semantics.md, whose tables are made from litmus.Rules, is a function
// with its name, or a comment of the function that carries it out names it; and the machine
// names no other rule.
func TestEveryRuleOfThePageHasItsFunction(t *testing.T) {
	functions, comments := source(t)
	own := 0
	for _, r := range litmus.Rules {
		name := camel(r.ID)
		has := functions[name] || strings.Contains(comments, r.ID)
		switch why := absent[r.ID]; {
		case has && why != "":
			t.Errorf("the machine has %s now: take it off the list", r.ID)
		case !has && why == "":
			t.Errorf("no function %s, and no comment of a function names %s", name, r.ID)
		}
		if functions[name] {
			own++
		}
		delete(functions, name)
	}
	t.Logf("%d rules; %d have a function of their own, %d are absent", len(litmus.Rules), own, len(absent))
	for id := range absent {
		if !known(id) {
			t.Errorf("%s is no rule of the page", id)
		}
	}
	for _, word := range strings.FieldsFunc(comments, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz-", r) }) {
		if strings.Count(word, "-") >= 2 && !known(word) {
			t.Errorf("a comment names %s, which is no rule of the page", word)
		}
	}
}

func known(id string) bool {
	for _, r := range litmus.Rules {
		if r.ID == id {
			return true
		}
	}
	return false
}

// camel is the function of a rule: read-after-write is readAfterWrite.
func camel(id string) string {
	words := strings.Split(id, "-")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.NewReplacer("Hca", "HCA", "Qp", "QP", "Mr", "MR").Replace(strings.Join(words, ""))
}

// source lists the functions of the package, and their comments.
func source(t *testing.T) (functions map[string]bool, comments string) {
	t.Helper()
	functions = map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				functions[fn.Name.Name] = true
			}
		}
		for _, c := range f.Comments {
			comments += c.Text() + "\n"
		}
	}
	return functions, comments
}
