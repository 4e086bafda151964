package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

var update = flag.Bool("update", false, "write testdata/tiny.json anew")

// lineNumber is what changes in a document when a test is edited.
var lineNumber = regexp.MustCompile(`"([a-z_]+/[a-z_]+\.go):\d+"|"line": \d+`)

func encoded(t *testing.T, d *view.Document) string {
	t.Helper()
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return lineNumber.ReplaceAllString(string(b), `"$1"`) + "\n"
}

// The document of a run is what it was, and the same each time. With -update it is
// written anew.
func TestGolden(t *testing.T) {
	got := encoded(t, document(t, "writer", "server"))
	if again := encoded(t, document(t, "writer", "server")); got != again {
		t.Errorf("the same run makes two documents:\n%s", cmp.Diff(got, again))
	}
	name := filepath.Join("testdata", "tiny.json")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("write it anew with -update if this is right, and raise Version if an older front end would show it wrongly:\n%s", diff)
	}
}

// What the document says of tiny is what happened: the half that was found landed,
// and the other did not.
func TestDocumentOfATornWrite(t *testing.T) {
	d := document(t, "writer", "server")
	if d.Violation == nil || d.Violation.Class != "torn-read" || d.Violation.LastChance == nil || *d.Violation.LastChance >= d.Violation.Step {
		t.Errorf("the violation is %+v", d.Violation)
	}
	if len(d.Requests) != 1 || d.Requests[0].Op != "Write" || d.Requests[0].Length != 16 || d.Hosts[d.Requests[0].Peer] != "server" {
		t.Fatalf("requests: %+v", d.Requests)
	}
	landed := 0
	for _, p := range d.Pieces {
		if p.Fate == "landed" {
			landed += p.Length
		}
	}
	if landed == 0 || landed >= 16 {
		t.Errorf("%d of 16 bytes had landed: %+v", landed, d.Pieces)
	}
	for i, e := range d.Events {
		if e.Cell == "" || e.Host < 0 {
			t.Errorf("event %d has no place: %+v", i, e)
		}
	}
}

// hostile is a name that is markup, breaks out of a script, and is no word.
const hostile = `</script><script>window.bad=1</script><img src=x onerror="window.bad=1">&amp;{script}{data}` + "\u2028"

// No name gets into a page as markup.
func TestHostileNames(t *testing.T) {
	d := document(t, "writer"+hostile, "server"+hostile)
	var b bytes.Buffer
	if err := view.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, tag := range []string{"<script", "</script", "<img", "<style", "</style"} {
		want := map[string]int{"<script": 2, "</script": 2, "<style": 1, "</style": 1}[tag]
		if n := strings.Count(page, tag); n != want {
			t.Errorf("%s occurs %d times, want %d", tag, n, want)
		}
	}
	data := regexp.MustCompile(`(?s)id="run">(.*?)</script>`).FindStringSubmatch(page)
	var back view.Document
	if len(data) != 2 || json.Unmarshal([]byte(data[1]), &back) != nil {
		t.Fatal("the page holds no document")
	}
	if diff := cmp.Diff(d, &back); diff != "" {
		t.Errorf("the document does not come back:\n%s", diff)
	}
}

// A page needs no network: its policy forbids connections, and it names no address.
func TestNoNetwork(t *testing.T) {
	var b bytes.Buffer
	if err := view.Write(&b, document(t, "writer", "server")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `default-src 'none'`) {
		t.Error("the page has no policy")
	}
	for _, url := range regexp.MustCompile(`https?://[^"'\s]*`).FindAllString(b.String(), -1) {
		if url != "http://www.w3.org/2000/svg" {
			t.Errorf("the page names %s", url)
		}
	}
}

func TestTooLarge(t *testing.T) {
	d := document(t, "writer", "server")
	d.Doc = strings.Repeat("x", view.MaxPage)
	var b bytes.Buffer
	if err := view.Write(&b, d); !errors.Is(err, view.ErrTooLarge) || b.Len() > 0 {
		t.Errorf("%v, and %d bytes were written", err, b.Len())
	}
}

// dist/ is what front/ gives.
func TestBuiltFilesAreFresh(t *testing.T) {
	dir := t.TempDir()
	source, err := os.ReadFile("page.go")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(source), "\n//go:generate go ")
	line, _, _ = strings.Cut(line, "\n")
	args := strings.Fields(strings.Replace(line, "--outdir=dist", "--outdir="+dir, 1))
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	for _, name := range []string{"viewer.js", "viewer.css"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join("dist", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("dist/%s is not what front/ gives (%v): run go generate ./report/view", name, err)
		}
	}
}

// The front end passes the type checker, where there is one.
func TestTypes(t *testing.T) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Skip("there is no tsc: install node-typescript to have the types of the front end checked")
	}
	if out, err := exec.Command(tsc, "-p", "front").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// front/document.ts declares the fields that document.go has, and no others.
func TestFrontEndKnowsTheDocument(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("front", "document.ts"))
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?s)export interface (\w+)(?: extends (\w+))? \{(.*?)\n\}`).FindAllStringSubmatch(string(source), -1) {
		fields[m[1]] = slices.Clone(fields[m[2]])
		for _, f := range regexp.MustCompile(`(?m)^  (\w+)\??:`).FindAllStringSubmatch(m[3], -1) {
			fields[m[1]] = append(fields[m[1]], f[1])
		}
		slices.Sort(fields[m[1]])
	}
	for _, x := range []any{view.Document{}, view.Violation{}, view.Event{}, view.Row{}, view.Request{}, view.Span{}, view.Piece{},
		view.Region{}, view.Change{}, view.Doubt{}, view.Operation{}, view.Sentence{}, view.Decision{}, view.Source{},
		view.Hand{}, view.Outcome{}, view.Fork{}, view.Link{}, view.Branch{}} {
		typ := reflect.TypeOf(x)
		var want []string
		for _, f := range reflect.VisibleFields(typ) {
			if !f.Anonymous {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, fields[typ.Name()]); diff != "" {
			t.Errorf("%s in document.go and in front/document.ts differ:\n%s", typ.Name(), diff)
		}
	}
	version, err := os.ReadFile(filepath.Join("front", "viewer.ts"))
	if m := regexp.MustCompile(`(?m)^const version = (\d+);`).FindStringSubmatch(string(version)); err != nil || m == nil || m[1] != "1" || view.Version != 1 {
		t.Errorf("front/viewer.ts reads version %v, and documents have %d", m, view.Version)
	}
}
