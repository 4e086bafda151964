package lint

import (
	"os"
	"strings"
	"testing"
)

// TestPagesHaveTheTable holds the tables of packages in pages against the table of layers.
func TestPagesHaveTheTable(t *testing.T) {
	const begin, end = "<!-- begin packages -->\n", "<!-- end packages -->"
	for _, x := range []struct{ page, want string }{
		{"docs/packages.md", packageTable(false)},
		{"docs/architecture.md", packageTable(true)},
	} {
		name := root + "/" + x.page
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(text), begin)
		got, after, ok2 := strings.Cut(rest, end)
		switch {
		case !ok1 || !ok2:
			t.Errorf("%s has no table of packages between %q and %q", x.page, begin, end)
		case got == x.want:
		case *rewrite:
			if err := os.WriteFile(name, []byte(before+begin+x.want+end+after), 0o666); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s has another table of packages than internal/lint/layers.go; go test ./internal/lint -rewrite writes it anew. Found\n%swant\n%s",
				x.page, got, x.want)
		}
	}
}

// TestTableOfAPage: a layer has its row, with a link that the page can follow, and what no
// other module can import is in the whole table alone.
func TestTableOfAPage(t *testing.T) {
	public, all := packageTable(false), packageTable(true)
	for _, x := range []struct{ table, row string }{
		{public, "| `faults` | hardware profiles and fault budgets, as data: [profiles](profiles.md) |\n"},
		{public, "| `codec` | "},
		{all, "[profiles](profiles.md) | `verbs`, `host`, `internal/mistake` |\n"},
		{all, "| `codec`, `internal/codec` | "},
		{all, "| the base, `verbs/sim`, `internal/whole`, any module |\n"},
	} {
		if !strings.Contains(x.table, x.row) {
			t.Errorf("no %q in\n%s", x.row, x.table)
		}
	}
	if strings.Contains(public, "internal/") {
		t.Errorf("other modules cannot import all of\n%s", public)
	}
}
