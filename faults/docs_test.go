package faults

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// section returns the text between the markers with that name in a page.
func section(t *testing.T, file, name string) string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(page), "<!-- begin "+name+" -->\n")
	text, _, ok2 := strings.Cut(rest, "<!-- end "+name+" -->")
	if !ok1 || !ok2 {
		t.Fatalf("%s has no section %s", file, name)
	}
	return text
}

// TestProfilePageIsTheData checks docs/profiles.md against the table of knobs. To
// update the page, paste the expected text.
func TestProfilePageIsTheData(t *testing.T) {
	var b strings.Builder
	b.WriteString("| knob | values | in `strong` | meaning | promised by | known from | tested by |\n|---|---|---|---|---|---|---|\n")
	for _, k := range strong().Knobs() {
		test := k.Exercised
		if k.Needs != "" {
			test += ", if `" + k.Needs + "`"
		}
		if k.Amount != "" {
			test = "no promise: " + k.Amount
		}
		if k.Simulated != "" {
			test = strings.TrimPrefix(test+"; the simulator makes no difference: "+k.Simulated, "; ")
		}
		b.WriteString("| `" + strings.Join([]string{k.Name + "`", k.Legal, k.Default, k.Meaning, k.Promise, k.Source, test}, " | ") + " |\n")
	}
	if d := cmp.Diff(section(t, "../docs/profiles.md", "knobs"), b.String()); d != "" {
		t.Errorf("docs/profiles.md is not the data (-page +data):\n%s\nexpected:\n%s", d, b.String())
	}
	b.Reset()
	b.WriteString("```text\n")
	text, err := os.ReadFile("../testdata/profiles/mycard.profile")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(text)
	b.WriteString("```\n")
	if d := cmp.Diff(section(t, "../docs/profiles.md", "example"), b.String()); d != "" {
		t.Errorf("the example is not testdata/profiles/mycard.profile (-page +file):\n%s", d)
	}
}
