package scenario_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
)

// The first scenario of a protocol takes 40 lines at most.
func TestTheFirstScenarioIsShort(t *testing.T) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "example_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "first" {
			lines = files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
		}
	}
	if lines == 0 || lines > 40 {
		t.Errorf("it takes %d lines", lines)
	}
}

// The kit reports to the search as the search's rules require.
func TestSearchRulesHold(t *testing.T) {
	r := audit.Test(t, first("server2", "server1"), audit.Options{Runs: 40, Explore: explore.Options{MaxTime: time.Second}})
	if r.Tried[audit.Commute] == 0 || r.Tried[audit.Twins] == 0 {
		t.Errorf("that tests too little: %v", r.Tried)
	}
}
