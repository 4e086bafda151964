package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// storyBlock matches the story of a mutant's run in a page of docs.
var storyBlock = regexp.MustCompile(`(?s)<!-- story (\w+) ([a-z-]+) -->\n(.*?)<!-- end -->`)

// dataOfPage matches the document in the page of a run.
var dataOfPage = regexp.MustCompile(`(?s)<script type="application/json" id="run">(.*?)</script>`)

// docs/counterexamples.md shows the stories of the runs that catch the mutants. With -update the test rewrites them.
func TestREADMECounterexamples(t *testing.T) {
	const name = "docs/counterexamples.md"
	dir := root(t)
	text := fileText(t, dir, name)
	n := 0
	now := storyBlock.ReplaceAllStringFunc(text, func(place string) string {
		n++
		m := storyBlock.FindStringSubmatch(place)
		return "<!-- story " + m[1] + " " + m[2] + " -->\n\n```text\n" + storyOfMutant(t, m[1], m[2]) + "```\n\n<!-- end -->"
	})
	if n != 3 {
		t.Errorf("%s has %d stories, not 3", name, n)
	}
	if now == text {
		return
	}
	if !*update {
		t.Errorf("the stories in %s differ from the stories of the runs: check the changes, update them with go test ./cmd/verbatim -run README -update, and make the pictures again\n%s", name, now)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// storyOfMutant finds the run that catches a mutant, and returns its story.
func storyOfMutant(t *testing.T, protocol, name string) string {
	t.Helper()
	found, err := mutant.Run(t.Context(), mutant.Options{Protocol: protocol, Names: []string{name}, NoControl: true, Workers: 1, Out: t.TempDir(), MaxEvents: 100})
	if err != nil || len(found) != 1 || found[0].Err != nil || found[0].Page == "" {
		t.Fatalf("%s: %+v, %v", name, found, err)
	}
	page, err := os.ReadFile(found[0].Page)
	if err != nil {
		t.Fatal(err)
	}
	d := &view.Document{}
	if m := dataOfPage.FindSubmatch(page); m == nil || json.Unmarshal(m[1], d) != nil {
		t.Fatalf("%s: the page has no document", name)
	}
	return story.Text(d.Story)
}
