package litmus

import (
	"os"
	"strings"
	"testing"
)

func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/litmus.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// blocks are the fenced examples of the page.
func blocks(text string) []string {
	var out []string
	for _, part := range strings.Split(text, "```litmus\n")[1:] {
		body, _, _ := strings.Cut(part, "```")
		out = append(out, body)
	}
	return out
}

func TestExamplesOfThePageRun(t *testing.T) {
	list := blocks(page(t))
	if len(list) < 2 {
		t.Fatalf("the page has %d examples", len(list))
	}
	for _, text := range list {
		test, err := Parse("docs/litmus.md", []byte(text))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, profile := range Profiles(test) {
			r, err := Run(test, profile, simBackend{}, Options{})
			if err != nil || r.Reason != nil {
				t.Fatal(test.Name, profile, err, r)
			}
			for i := range r.Rows {
				if !r.Rows[i].OK() {
					t.Errorf("%s, %s: %+v, final states %q", test.Name, profile, r.Rows[i], r.Finals)
				}
			}
		}
	}
}

// Every statement of the table is one: it is read in a test that declares the names.
func TestStatementsOfThePageParse(t *testing.T) {
	const head = "litmus t\ndoc d\nsource s\nrule r\nhosts B A\ndram B: a b c[16]\ndram A: x[16] y\nqp q B -> A psn=1\n" +
		"thread A\n tell B m\n tell B m <- 1\n connect q\n hear n\n" +
		"thread B\n r = load a\n l = load b\n read y as w\n recv as v\n tell A n\n recv as answer\n "
	_, table, _ := strings.Cut(page(t), "## Statements")
	table, _, _ = strings.Cut(table, "## Conditions")
	n := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell := strings.Split(line, "|")[1]
		for i, stmt := range strings.Split(cell, "`") {
			if i%2 == 0 {
				continue
			}
			n++
			if err := stmtParses(head, stmt); err != nil {
				t.Errorf("%s: %v", stmt, err)
			}
		}
	}
	if n < 45 {
		t.Errorf("only %d statements found in the table", n)
	}
}

// stmtParses reads a statement of the page. There x is a word of the peer or of
// this host, whatever the statement needs, and B is a peer.
func stmtParses(head, stmt string) error {
	const tail = "\nexists done(B)\n * Y\n"
	var err error
	for _, own := range []string{"x", "a"} {
		s := strings.ReplaceAll(stmt, " B", " A")
		if own == "a" {
			s = strings.ReplaceAll(s, "x ", "a ")
			if strings.HasSuffix(s, " x") {
				s = strings.TrimSuffix(s, "x") + "a"
			}
		} else {
			s = strings.ReplaceAll(strings.ReplaceAll(s, "x ", "y "), " from A", "")
			if strings.HasSuffix(s, " x") {
				s = strings.TrimSuffix(s, "x") + "y"
			}
		}
		for _, name := range []string{"as w", "as v"} {
			s = strings.ReplaceAll(s, name, name+"2")
		}
		for _, reg := range []string{"r", "l", "s", "n", "i", "p"} {
			s = strings.Replace(s, reg+" = ", reg+"9 = ", 1)
		}
		s = strings.Replace(s, "r, s", "r9, s", 1)
		s = strings.Replace(s, " A A", " A B", 1)
		s = strings.Replace(s, "hear m", "hear m", 1)
		text := head
		if !strings.Contains(s, "hear m") {
			text = strings.Replace(text, "thread B\n", "thread B\n hear m\n", 1)
		}
		if !strings.HasPrefix(s, "connect") {
			text += "connect q\n "
		}
		s = strings.ReplaceAll(s, "tell A m", "tell A n")
		if _, err = Parse("page", []byte(text+s+tail)); err == nil {
			return nil
		}
	}
	return err
}
