package browser_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/verbatim-rdma/verbatim/explore/coverage"
)

// built is the command, which all tests share. It counts statements already, so that
// a report need not build it again.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "verbatim-browser-*")
	if err != nil {
		return "", err
	}
	removeBuilt = func() { os.RemoveAll(dir) }
	file := filepath.Join(dir, "verbatim")
	return file, errors.Join(coverage.Build(context.Background(), "", "./cmd/verbatim", []string{"protocol/ncl"}, file), os.Setenv("GOCOVERDIR", dir))
})

var removeBuilt = func() {}

func program(t *testing.T) string {
	t.Helper()
	file, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// serve starts `verbatim explore` and returns the address of its page.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command(program(t), append([]string{"explore"}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			t.Errorf("it does not end in good order: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url := regexp.MustCompile(`http://\S+`).FindString(line)
	if err != nil || url == "" {
		t.Fatalf("it prints %q: %v", line, err)
	}
	return url
}

// Three choices by hand, a step back, a search, and the address as what is shared.
func TestExploresByHand(t *testing.T) {
	b := newTab(t, 1500, 1000)
	b.origin = serve(t, "ncl/three-writes")
	b.run(chromedp.Navigate(b.origin))
	steps := func() string { return eval[string](b, `document.querySelector("h1").textContent`) }
	click := func(selector string) {
		t.Helper()
		b.follow(selector)
	}
	if n := eval[int](b, `document.querySelectorAll(".hand .next a").length`); n < 2 || !strings.HasSuffix(steps(), "after step 0") {
		t.Fatalf("%q offers %d ways", steps(), n)
	}
	for i, selector := range []string{".next li:nth-child(1) a", ".next li:nth-child(2) a", ".next li:nth-child(1) a"} {
		want := eval[string](b, fmt.Sprintf(`document.querySelector(%q).textContent`, selector))
		click(selector)
		if !strings.HasSuffix(steps(), fmt.Sprintf("after step %d", i+1)) {
			t.Errorf("after choosing %s the page says %q", want, steps())
		}
	}
	shared, rows := eval[string](b, "location.href"), eval[string](b, `document.querySelector(".timeline tbody").textContent`)
	if n := eval[int](b, `document.querySelectorAll("header ol li").length`); n != 1 {
		t.Errorf("one choice was out of the ordinary, and the page lists %d", n)
	}
	click(".hand a.back")
	if !strings.HasSuffix(steps(), "after step 2") {
		t.Errorf("a step back is %q", steps())
	}
	b.run(chromedp.Navigate(shared))
	if again := eval[string](b, `document.querySelector(".timeline tbody").textContent`); again != rows {
		t.Errorf("the address leads to another run: %q, not %q", again, rows)
	}
	later := func() string {
		return eval[string](b, `[...document.querySelectorAll("aside .otherwise a")].map(a => a.textContent).join("|")`)
	}
	for n := 0; !strings.Contains(later(), "What if the completion of ") && n < 30; n++ {
		click(".next li:nth-child(1) a")
	}
	came := `document.querySelector(".hand .inside a[aria-current]").textContent`
	first, at := eval[string](b, came), steps()
	click(".next li:nth-child(1) a") // one gets back to it from a later step
	b.do(`[...document.querySelectorAll("aside .otherwise a")].find(a => a.textContent.includes("came later")).className = "later"`)
	click("aside .later")
	if steps() != at || eval[string](b, came) != first {
		t.Errorf("back at a completion the page says %q and %q, not %q and %q", steps(), eval[string](b, came), at, first)
	}
	click(".hand .inside a:not([aria-current])")
	if now := eval[string](b, came); steps() != at || now == first {
		t.Errorf("what if it came later: %q, %q", steps(), now)
	}
	b.run(chromedp.Navigate(shared))
	click(".hand a.search")
	if said := eval[string](b, `document.querySelector(".hand .remark").textContent`); !strings.Contains(said, "of step 3 were tried") {
		t.Errorf("the search says %q", said)
	}
	click(".hand a.choice")
	if n := eval[int](b, `document.querySelectorAll(".hand .inside a").length`); n < 2 {
		t.Errorf("the next choice has %d ways: %s", n, steps())
	}
	b.run(chromedp.Navigate(shared))
	b.do(`document.querySelector(".hand .steps").value = "4"; document.querySelector(".hand .on").className = "on go"`)
	click(".hand .on.go")
	if !strings.HasSuffix(steps(), "after step 7") {
		t.Errorf("after four more steps the page shows %q", steps())
	}
	if does := eval[[]string](b, `[...document.querySelectorAll(".hand .next .does")].map(x => x.textContent)`); len(does) < 2 || does[0] == "" {
		t.Errorf("the page describes the effects of the choices as %q", does)
	}
	if n := eval[int](b, `document.querySelectorAll(".hand .tried ul ul a").length`); n == 0 {
		t.Error("the tree of runs has no branch below a branch")
	}
	click(".hand .tried a:not([aria-current])")
	if now := eval[string](b, `document.querySelector(".hand .tried a[aria-current]").textContent`); now == "" {
		t.Errorf("a link of the tree opens %s, which is not in the tree", steps())
	}
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	b.do(string(axe) + ";0")
	for _, v := range violations(b) {
		t.Errorf("%s (%s): %s", v.ID, v.Impact, v.Where)
	}
}

// A litmus test by hand ends in a state, and says whether that is what it asks for.
func TestExploresLitmusByHand(t *testing.T) {
	b := newTab(t, 1500, 1000)
	b.origin = serve(t, "../../../testdata/litmus/message-passing.litmus", "--profile", "relaxed")
	b.run(chromedp.Navigate(b.origin))
	end := func() string {
		return eval[string](b, `[...document.querySelectorAll(".hand .final, .hand .outcomes td")].map(x => x.textContent).join("|")`)
	}
	for n := 0; end() == "" && n < 20; n++ {
		b.follow(".next li:nth-child(1) a")
	}
	if got, want := end(), "It ends in B.r1=0 B.r2=0.|exists|r1 == 1 && r2 == 0|– not met|some run reaches it with profile relaxed"; got != want {
		t.Errorf("the ordinary end is %q", got)
	}
	b.run(chromedp.Navigate(b.origin))
	b.follow(".hand a.search")
	if got := end(); !strings.Contains(got, "B.r1=1 B.r2=0.") || !strings.Contains(got, "✓ met") {
		t.Errorf("the search ends in %q", got)
	}
}
