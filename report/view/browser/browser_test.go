package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// names are what a Chromium may be called.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"}

// limit is how long a test may take in the browser.
const limit = 2 * time.Minute

// chromium is the browser that all tests share, or a reason to skip them.
var chromium = sync.OnceValues(func() (context.Context, error) {
	for _, n := range names {
		path, err := exec.LookPath(n)
		if err != nil {
			continue
		}
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(time.Minute))
		ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
		stopBrowser = cancel
		ctx, _ = chromedp.NewContext(ctx)
		return ctx, chromedp.Do(ctx)
	}
	return nil, fmt.Errorf("there is none of %s: install Debian's chromium", strings.Join(names, ", "))
})

var stopBrowser context.CancelFunc = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	removeBuilt()
	os.Exit(code)
}

// tab is a page in the browser, and what it complained of.
type tab struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	said []string
	asks []string // addresses

	origin string // that it may ask besides files
}

// newTab is an empty tab of a size. At the end of the test it must not have
// complained, nor asked for anything but files.
func newTab(t *testing.T, width, height int) *tab {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		if os.Getenv("VERBATIM_BROWSER") == "required" {
			t.Fatal(err)
		}
		t.Skip("Chromium is not installed: ", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	ctx, stop := context.WithTimeout(ctx, limit)
	t.Cleanup(func() { stop(); cancel() })
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	b.run(chromedp.EmulateViewport(int64(width), int64(height)))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, s := range b.said {
			t.Errorf("the console says: %s", s)
		}
		for _, url := range b.asks {
			if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") && (b.origin == "" || !strings.HasPrefix(url, b.origin)) {
				t.Errorf("the page asks for %s", url)
			}
		}
	})
	return b
}

// hear collects complaints and requests.
func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if s := string(e.Type); s == "error" || s == "warning" || s == "assert" {
			b.said = append(b.said, fmt.Sprint(s, " ", e.Args))
		}
	case *log.EventEntryAdded:
		if s := string(e.Entry.Level); s == "error" || s == "warning" {
			b.said = append(b.said, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		b.asks = append(b.asks, e.Request.URL)
	}
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call sends a command of the protocol.
func call[P, R any](b *tab, cmd cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, cmd, params); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// do evaluates an expression for what it does.
func (b *tab) do(js string) { b.t.Helper(); eval[chromedp.Void](b, js) }

// wait waits until an expression is true.
func (b *tab) wait(js string) { b.t.Helper(); b.run(chromedp.Poll[chromedp.Void](js)) }

// open writes the page of a document to disk and opens it.
func (b *tab) open(d *view.Document) {
	b.t.Helper()
	var text bytes.Buffer
	if err := view.Write(&text, d); err != nil {
		b.t.Fatal(err)
	}
	name := filepath.Join(b.t.TempDir(), "run.html")
	if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.run(chromedp.Navigate("file://" + name))
}

// follow clicks a link and waits for the page that it leads to.
func (b *tab) follow(selector string) {
	b.t.Helper()
	click := chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).click()`, selector))
	if _, err := chromedp.Run(b.ctx, chromedp.WaitEvent(page.LoadEventFired, func(page.EventLoadEventFired) bool { return true }, click)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) press(key string) { b.t.Helper(); b.run(chromedp.KeyEvent(key)) }

// found is a counterexample and what follows from it.
type found struct {
	scenario *explore.Scenario
	ce       *explore.Counterexample
	re       *explore.Replay
	doc      *view.Document
}

// find checks a scenario and makes the document of the run that violates it.
func find(t *testing.T, s *explore.Scenario, opt explore.Options) *found {
	t.Helper()
	opt.Workers = 1
	r, err := explore.Check(s, opt)
	if err != nil || r.Counterexample == nil {
		t.Fatalf("%s is not violated: %v %v", s.Name, r, err)
	}
	return replayed(t, s, r.Counterexample)
}

func replayed(t *testing.T, s *explore.Scenario, ce *explore.Counterexample) *found {
	t.Helper()
	re, err := ce.ReplayFull(s)
	if err != nil {
		t.Fatal(err)
	}
	if litmus.IsScenario(s.Name) {
		if err := litmus.PointAtLines(re, s.Text, s.Name); err != nil {
			t.Fatal(err)
		}
	}
	d := view.New(view.Run{Scenario: s, Counterexample: ce, Replay: re, Outcome: "still fails", Command: "verbatim replay run.json", Read: os.ReadFile,
		Litmus: litmus.IsScenario(s.Name)})
	d.Story = story.Tell(d)
	return &found{s, ce, re, d}
}
