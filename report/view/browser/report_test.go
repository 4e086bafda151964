package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
)

// checked is what `verbatim check --json` prints, as far as the report shows it.
type checked struct {
	Scenario, Profile, Verdict string
	Runs, States, Choices      uint64
}

// reportOf makes the report of a check, and returns the page and what was printed.
func reportOf(t *testing.T, args ...string) (string, []checked) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "report.html")
	c := exec.Command(program(t), append([]string{"check", "--json", "--report", page, "--matrix", "testdata/matrix/ncl.jsonl"}, args...)...)
	c.Dir = filepath.Join("..", "..", "..")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if code := c.ProcessState.ExitCode(); code != 0 && code != 1 {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	var all []checked
	for line := range strings.Lines(string(out)) {
		var x checked
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, x)
	}
	return page, all
}

// survivors are results in which the first mutants survive and some others make no difference.
func survivors(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	set, err := generate.Generate(t.Context(), root, []string{"protocol/ncl"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	for i, m := range set.Mutants[:40] {
		x := mutant.Judged{Mutant: m, Result: mutant.Survives, Reached: []string{"ncl/twice"}}
		if i >= 20 {
			x.Result, x.Reason = mutant.Equivalent, "it is read nowhere"
		}
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "results")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The report says what check --json says, in light and dark, and leads to the runs.
func TestReport(t *testing.T) {
	b := newTab(t, 1300, 1000) // skips without a browser, before the search
	file, want := reportOf(t, "ncl/release", "ncl/three-writes", "--profile", "relaxed", "--mutants", survivors(t))
	if st, err := os.Stat(file); err != nil || st.Size() > 2<<20 {
		t.Fatalf("the page: %v, %v", st, err)
	}
	b.run(chromedp.Navigate("file://" + file))
	type shown struct{ Scenario, Verdict, Profile, Runs, States, Choices, Reached string }
	got := eval[[]shown](b, `[...document.querySelectorAll("#summary tbody tr")].map(r => { const c = [...r.cells].map(x => x.textContent.replace(/,/g, ""));
		return { Scenario: c[0], Verdict: c[1], Profile: c[2], Runs: c[3], States: c[4], Choices: c[5], Reached: c[7] } })`)
	if len(got) != len(want) || len(want) != 2 {
		t.Fatalf("the page has %+v, and check --json printed %+v", got, want)
	}
	for i, w := range want {
		g := got[i]
		if g.Scenario != w.Scenario || !strings.Contains(strings.ToLower(g.Verdict), w.Verdict) || g.Profile != w.Profile || g.Runs != fmt.Sprint(w.Runs) ||
			g.States != fmt.Sprint(w.States) || g.Choices != fmt.Sprint(w.Choices) {
			t.Errorf("the page says %+v, and check --json %+v", g, w)
		}
		if !strings.Contains(g.Reached, "statements (") {
			t.Errorf("%s: the lines reached are %q", w.Scenario, g.Reached)
		}
		sums := eval[[]uint64](b, fmt.Sprintf(`[...document.querySelectorAll("section.check")][%d] ? [...[...document.querySelectorAll("section.check")][%d].querySelectorAll("figure")]
			.map(f => [...f.querySelectorAll("td")].reduce((n, x) => n + Number(x.textContent.replace(/,/g, "")), 0)) : []`, i, i))
		if len(sums) < 2 || sums[0] != w.States || sums[1] != w.Choices {
			t.Errorf("%s: the charts show %d, and there are %d states and %d choices", w.Scenario, sums, w.States, w.Choices)
		}
	}
	if n := eval[int](b, `[...document.querySelectorAll("#lines ~ details pre .reached")].length`); n < 100 {
		t.Errorf("%d lines of the protocol are shown as reached", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll("figure")].filter(f => { const o = f.querySelector("svg.outline");
		return o ? o.getBoundingClientRect().width < 100 || o.getAttribute("aria-label") === "" || f.querySelector("path").getBoundingClientRect().height < 50
			: Math.max(...[...f.querySelectorAll("rect")].map(x => x.getBoundingClientRect().width)) < 100 }).length`); n > 0 {
		t.Errorf("%d charts are not drawn or have no text", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll("figure")].filter(f => f.querySelector("rect")).flatMap(f => { const rows = [...f.querySelectorAll("tbody tr")];
		const at = r => Number(r.querySelector(".number").textContent.replace(/,/g, "")), wide = r => r.querySelector("rect").getBoundingClientRect().width;
		const most = rows.reduce((a, r) => at(r) > at(a) ? r : a); return rows.filter(r => Math.abs(wide(r) / wide(most) - at(r) / at(most)) > 0.01) }).length`); n > 0 {
		t.Errorf("%d bars are not as long as their numbers", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll(".survivors pre .never")].filter(x => x.previousElementSibling !== null).length`); n != 20 {
		t.Errorf("%d of 20 mutants that survive are beside their lines", n)
	}
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	b.do(`document.querySelectorAll("details").forEach(d => d.open = true)`)
	b.do(string(axe) + ";0")
	for _, scheme := range []string{"light", "dark"} {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		for _, v := range violations(b) {
			t.Errorf("%s: %s (%s): %s", scheme, v.ID, v.Impact, v.Where)
		}
	}
	b.toPaper(upright)
	for _, x := range b.cutOff() {
		t.Errorf("cut off on paper: %s", x)
	}
	for _, selector := range []string{"#cells td a", "a.run"} { // a cell that breaks, and a check
		b.run(chromedp.Navigate("file://" + file))
		b.follow(selector)
		if title := eval[string](b, `document.querySelector("h1").textContent`); !strings.HasPrefix(title, "Promise broken: lost acknowledged write") {
			t.Errorf("%s leads to %q", selector, title)
		}
	}
}
