package command

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/internal/web"
	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/report/view"
)

// handSite serves a scenario, and follows links.
type handSite struct {
	t   *testing.T
	url string
}

func newHandSite(t *testing.T, s *explore.Scenario) *handSite {
	t.Helper()
	return serveHand(t, s, nil, explore.Options{})
}

func serveHand(t *testing.T, s *explore.Scenario, judge func(final, profile string) []litmus.Judgement, opt explore.Options) *handSite {
	t.Helper()
	l, err := listenLoopback("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- web.Serve(ctx, l, newHandServer(s, judge, opt, l.Addr()).serve) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &handSite{t, "http://" + l.Addr().String()}
}

// get asks for a page with some headers, which may change the request.
func (h *handSite) get(method, path string, with func(*http.Request)) (int, string, http.Header) {
	h.t.Helper()
	r, err := http.NewRequest(method, h.url+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if with != nil {
		with(r)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return a.StatusCode, string(b), a.Header
}

var runOfPage = regexp.MustCompile(`(?s)<script type="application/json" id="run">(.*?)</script>`)

// document is that of the page at a path.
func (h *handSite) document(path string) *view.Document {
	h.t.Helper()
	code, text, _ := h.get("GET", path, nil)
	m := runOfPage.FindStringSubmatch(text)
	if code != 200 || m == nil {
		h.t.Fatalf("%s: status %d: %.300s", path, code, text)
	}
	d := &view.Document{}
	if err := json.Unmarshal([]byte(m[1]), d); err != nil {
		h.t.Fatal(err)
	}
	return d
}

func wrongMirror() *explore.Scenario {
	return mirror.Scenario("one", (*mirror.Register).WriteOne)
}

// By links alone one goes on, takes another way, goes back, and lets the checker search.
func TestExploreByHand(t *testing.T) {
	h := newHandSite(t, wrongMirror())
	d := h.document("/")
	if d.Hand == nil || len(d.Hand.Next) < 2 || d.Hand.Back != "" || d.Violation != nil {
		t.Fatalf("the start: %+v", d.Hand)
	}
	for range 12 {
		d = h.document("/" + d.Hand.Next[0].Href)
	}
	if last := d.Events[len(d.Events)-1].Step; last == 0 || last > 12 || d.Hand.Back == "" {
		t.Errorf("after twelve steps: %d, %+v", last, d.Hand)
	}
	crash := ""
	for _, l := range d.Hand.Next {
		if l.Fault {
			crash = l.Href
		}
	}
	x := h.document("/" + crash)
	if e := x.Events[len(x.Events)-1]; e.Kind != "crash" || len(x.Decisions) != 1 {
		t.Errorf("the fault led to %+v", e)
	}
	if y := h.document("/" + x.Hand.Back); len(y.Decisions) != 0 || len(y.Events) != len(d.Events) {
		t.Errorf("back again: %d events, not %d", len(y.Events), len(d.Events))
	}
	found := h.document("/" + h.document("/").Hand.Search)
	if found.Violation == nil || found.Violation.Class != "not-linearizable" || !strings.Contains(found.Hand.Said, "A search from step 0") || len(found.Hand.Next) != 0 {
		t.Errorf("the search found %+v, and says %q", found.Violation, found.Hand.Said)
	}
}

// A litmus test by hand says what its end is, and whether that is what the test asks for.
func TestExploreLitmus(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	f := &handFlags{}
	f.opt.Profile = "relaxed"
	s, judge, err := f.scenario("mp.litmus")
	if err != nil {
		t.Fatal(err)
	}
	h := serveHand(t, s, judge, f.opt)
	d := h.document("/")
	if d.Hand.Final != "" || len(d.Hand.Outcomes) != 0 {
		t.Errorf("at its start the run is judged: %+v", d.Hand)
	}
	search := d.Hand.Search
	for n := 0; len(d.Hand.Next) > 0 && n < 100; n++ {
		d = h.document("/" + d.Hand.Next[0].Href)
	}
	want := view.Outcome{Name: "stale", Cond: "r1 == 1 && r2 == 0", Expected: "some run reaches it with profile relaxed"}
	if d.Hand.Final == "" || len(d.Hand.Outcomes) != 1 || d.Hand.Outcomes[0] != want || d.Violation != nil {
		t.Errorf("the ordinary end: %+v", d.Hand)
	}
	found := h.document("/" + search)
	want.Met = true
	if found.Hand.Final != "B.r1=1 B.r2=0" || len(found.Hand.Outcomes) != 1 || found.Hand.Outcomes[0] != want || found.Violation == nil || !found.Violation.Litmus ||
		!strings.Contains(found.Hand.Said, "reaches an outcome") {
		t.Errorf("the outcome: %+v %+v", found.Hand, found.Violation)
	}
}

// A search that finds nothing says so, and stays where it is.
func TestExploreSearchFindsNothing(t *testing.T) {
	d := newHandSite(t, wrongMirror()).document("/" + address(explore.Walk{Steps: 1000}))
	if d.Hand.Search != "" {
		t.Errorf("a run that has ended offers a search: %+v", d.Hand)
	}
	d = newHandSite(t, mirror.Scenario("ordered", (*mirror.Register).Write)).document("/" + address(explore.Walk{}) + "&search")
	if d.Violation != nil || !strings.Contains(d.Hand.Said, "none broke the promise") || len(d.Hand.Next) == 0 {
		t.Errorf("%+v", d.Hand)
	}
}

// No other site gets at the page: not by a name of its own, nor by a request, a frame or
// a script of its own.
func TestExploreRefusesOthers(t *testing.T) {
	h := newHandSite(t, wrongMirror())
	for name, x := range map[string]struct {
		method, path string
		with         func(*http.Request)
		want         int
	}{
		"itself":          {"GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
		"a typed address": {"GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		"another name":    {"GET", "/", func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another port":    {"GET", "/", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"another site":    {"GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"a neighbour":     {"GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"a script":        {"GET", "/", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"a form":          {"POST", "/", nil, 405},
		"another path":    {"GET", "/etc/passwd", nil, 404},
		"a beginning":     {"GET", "/" + address(explore.Walk{Steps: 3}) + "&steps=2", nil, 200},
		"beyond its end":  {"GET", "/" + address(explore.Walk{Steps: 3}) + "&steps=4", nil, 400},
		"no number":       {"GET", "/" + address(explore.Walk{Steps: 3}) + "&steps=x", nil, 400},
		"steps on":        {"GET", "/" + address(explore.Walk{Steps: 3}) + "&on=2", nil, 200},
		"no steps on":     {"GET", "/" + address(explore.Walk{Steps: 3}) + "&on=0", nil, 400},
		"too far":         {"GET", "/" + address(explore.Walk{Steps: 3}) + "&on=1001", nil, 400},
		"beyond a walk":   {"GET", "/" + address(explore.Walk{Steps: 9999}) + "&on=1000", nil, 400},
		"no run":          {"GET", "/?run=%3Cscript%3E", nil, 400},
		"too many steps":  {"GET", "/" + address(explore.Walk{Steps: 1 << 30}), nil, 400},
		"a long address":  {"GET", "/?run=" + strings.Repeat("A", maxAddress+1), nil, 400},
	} { //lint:ordered each is a test of its own
		code, text, head := h.get(x.method, x.path, x.with)
		if code != x.want {
			t.Errorf("%s: status %d: %.200s", name, code, text)
		}
		if head.Get("Access-Control-Allow-Origin") != "" || head.Get("X-Frame-Options") != "DENY" || head.Get("X-Content-Type-Options") != "nosniff" ||
			head.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", name, head)
		}
		if code != 200 && strings.Contains(text, "<script") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestListenLoopback(t *testing.T) {
	for _, a := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.org:0", "[::]:0", "8080", ""} {
		if l, err := listenLoopback(a); err == nil {
			l.Close()
			t.Errorf("it listens on %q", a)
		}
	}
	l, err := listenLoopback("localhost:0")
	if err != nil {
		t.Skip("this machine cannot do what the test needs: ", err)
	}
	defer l.Close()
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Error(l.Addr())
	}
}

func TestExploreRefusesInput(t *testing.T) {
	useDemo(t)
	for _, args := range [][]string{{"demo"}, {"demo/none"}, {"demo/restart", "--listen", "0.0.0.0:0"}, {"demo/restart", "--faults", "crash("},
		{"demo/restart", "--profile", "none"}, {"missing.litmus"}} {
		if code, out, stderr := call(append([]string{"explore"}, args...)...); code != 2 || stderr == "" || out != "" {
			t.Errorf("%v: status %d: %s%s", args, code, out, stderr)
		}
	}
}
