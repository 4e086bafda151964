package report_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/report"
)

// names fills a report with one hostile text, and numbers its copies.
type names struct {
	text  string
	given []string
}

func (n *names) name() string {
	s := fmt.Sprintf("%d %s", len(n.given), n.text)
	n.given = append(n.given, s)
	return s
}

// fill puts a hostile text into all that a page takes from outside.
func (n *names) fill(r *report.Report) {
	r.Title, r.Command, r.Made, r.NoCoverage = n.name(), n.name(), n.name(), n.name()
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Scenario, c.Replay = &explore.Scenario{Doc: n.name()}, n.name()
		x := c.Result
		x.Scenario, x.Faults, x.Bounds, x.Profile, x.Reason = n.name(), n.name(), n.name(), n.name(), errors.New(n.name())
		x.Sometimes = []explore.Condition{{Name: n.name()}}
		x.Space.Steps = []explore.Tally{{Name: n.name(), Count: 1}}
	}
	found := r.Checks[1].Result.Counterexample
	found.Class, found.Message = n.name(), n.name()
	file := coverage.File{Name: n.name(), Statements: 1, Lines: []string{n.name()}, States: []coverage.State{coverage.Never}}
	r.Lines, r.Checks[0].Files = []coverage.File{file}, []coverage.File{file}
	cell := &r.Cells[1]
	cell.Protocol, cell.Assumption, cell.Mend, cell.Reason, cell.Verdict = n.name(), n.name(), n.name(), n.name(), matrix.Verdict(n.name())
	r.Mutants = judged()[:3]
	for i := range r.Mutants {
		x := &r.Mutants[i]
		x.ID, x.Before, x.After, x.File, x.Line = n.name(), n.name(), n.name(), "z.go", 18
	}
	r.Mutants[0].File, r.Mutants[1].File = n.name(), n.name()
	r.Mutants[2].Result, r.Mutants[2].Reason = mutant.Equivalent, n.name()
	r.MutatedFiles = report.Files(r.Mutants, func(string) ([]byte, error) { return nil, errors.New("gone") })
	r.MutatedFiles[0].Lines = make([]string, 20)
	r.MutatedFiles[0].Lines[17] = n.name()
}

// parsed is a page as a browser reads it.
func parsed(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// shape is the page without its texts and without what attributes say.
func shape(root *html.Node) []string {
	var out []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			continue
		}
		line := fmt.Sprint(n.Type, " ", n.Data)
		for _, a := range n.Attr {
			line += " " + a.Key
		}
		out = append(out, line)
	}
	return out
}

// Whatever names say, the page has the same elements with the same attributes, and its
// texts are the names as they were.
func TestHostileNamesStayTexts(t *testing.T) {
	tame, harmless := demo(), names{text: "harmless"}
	harmless.fill(tame)
	want := shape(parsed(t, written(t, tame)))
	for _, text := range []string{
		`</style><script>alert(1)</script>"><img src=x onerror=alert(1)>`, `<script>`, `</title></head><body onload=alert(1)>`, `<!-- <![CDATA[`, `-->`, `]]>`,
		`" onmouseover="alert(1)`, `' onmouseover='alert(1)`, `</code></pre></table></svg>`, `&lt;script&gt;`, `&#60;img&#62;`, `{{.}}`, `<plaintext>`, `javascript:alert(1)`, `x onclick=y`,
	} {
		r, hostile := demo(), names{text: text}
		hostile.fill(r)
		root := parsed(t, written(t, r))
		if got := shape(root); !slices.Equal(got, want) {
			t.Errorf("%s: the page has other elements or attributes", text)
		}
		var texts strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				texts.WriteString(n.Data + "\n")
			}
		}
		for _, name := range hostile.given {
			if !strings.Contains(texts.String(), name) {
				t.Errorf("the page does not show %q as it is", name)
			}
		}
	}
}

// No link leaves the folder of the page, whatever the place of a run is called.
func TestLinksStayInTheFolder(t *testing.T) {
	for _, x := range [][2]string{
		{"javascript:alert(1)", "#"}, {"JavaScript:alert(1)", "#"}, {" javascript:alert(1)", "#"}, {"java\nscript:alert(1)", "#"}, {"data:text/html,x", "#"}, {"vbscript:x", "#"},
		{"https://elsewhere.example/", "#"}, {"//elsewhere.example/", "#"}, {"/etc/passwd", "#"}, {`\\elsewhere.example\x`, "%5C%5Celsewhere.example%5Cx"}, {"%zz", "#"},
		{`runs/a" onclick="alert(1)`, "runs/a%22%20onclick=%22alert%281%29"}, {"runs/<script>", "runs/%3Cscript%3E"},
		{"./12%3A30%23a%20b-runs/x.html", "./12%3A30%23a%20b-runs/x.html"}, {"runs/a b.html", "runs/a%20b.html"},
	} {
		r := demo()
		r.Checks[1].Run, r.Cells[0].Run = x[0], x[0]
		found := 0
		for n := range parsed(t, written(t, r)).Descendants() {
			for _, a := range n.Attr {
				switch {
				case a.Key == "href" && a.Val == x[1]:
					found++
				case a.Key == "href" && !strings.HasPrefix(a.Val, "#") && a.Val != "data:,":
					t.Errorf("%q became %q", x[0], a.Val)
				case strings.HasPrefix(a.Key, "on"):
					t.Errorf("%q became the attribute %s", x[0], a.Key)
				}
			}
		}
		if found != 2 {
			t.Errorf("%q: %d links to %q", x[0], found, x[1])
		}
	}
}
