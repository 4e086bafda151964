package command

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/internal/web"
	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A run continues by a number of steps, or to the next step that contains a choice.
func TestExploreOnwards(t *testing.T) {
	h := newHandSite(t, wrongMirror())
	d := h.document("/")
	steps := func(d *view.Document) int { return d.Events[len(d.Events)-1].Step }
	on := h.document("/" + d.Hand.On + "7")
	if by := h.document("/" + address(explore.Walk{Steps: 7})); len(on.Events) != len(by.Events) || on.Hand.Here != by.Hand.Here {
		t.Errorf("7 steps on: %s with %d events, not %s with %d", on.Hand.Here, len(on.Events), by.Hand.Here, len(by.Events))
	}
	for n := 0; n < 3; n++ {
		before := steps(d)
		if d = h.document("/" + d.Hand.Choice); steps(d) <= before {
			t.Fatalf("after step %d the next choice is in step %d", before, steps(d))
		}
		forks := 0
		for _, f := range d.Hand.Inside {
			forks += len(f.Ways)
		}
		if forks < 2 && d.Hand.Choice != "" {
			t.Errorf("there is no choice in step %d: %+v", steps(d), d.Hand.Inside)
		}
		if d.Hand.Choice == "" {
			break
		}
	}
	if x, found, err := (&handServer{s: wrongMirror()}).toChoice(t.Context(), explore.Walk{}, 1); err != nil || found || x.Walk.Steps != 1 {
		t.Errorf("the first step has no choice: %+v, %v, %v", x, found, err)
	}
	if said := h.document("/?none").Hand.Said; !strings.Contains(said, "None of the 400 steps") {
		t.Errorf("a page after many steps without a choice: %q", said)
	}
	end := h.document("/" + on.Hand.On + "1000")
	if end.Hand.On != "" || end.Hand.Choice != "" || len(end.Hand.Next) != 0 {
		t.Errorf("the end: %+v", end.Hand)
	}
}

// The description of a choice agrees with the page that the choice leads to.
func TestExploreForesees(t *testing.T) {
	h := newHandSite(t, wrongMirror())
	d := h.document("/")
	seen := map[string]bool{}
	for n := 0; len(d.Hand.Next) > 0 && n < 60; n++ {
		for _, l := range d.Hand.Next {
			for _, kind := range []string{"sees the completion of Write #", "posts Write #", "crashes"} {
				if strings.Contains(l.Does, kind) {
					seen[kind] = true
				}
			}
			if l.Fault && !strings.Contains(l.Does, "crashes") && !strings.Contains(l.Does, "starts again") {
				t.Errorf("%s does %q", l.Text, l.Does)
			}
		}
		before, does := len(d.Events), d.Hand.Next[0].Does
		d = h.document("/" + d.Hand.Next[0].Href)
		if len(d.Events) > before && does == "" {
			t.Errorf("nothing was said of a step with %d events: %+v", len(d.Events)-before, d.Events[before])
		}
	}
	if len(seen) != 3 {
		t.Errorf("the choices say only %v", seen)
	}
}

// Runs form a tree: a run is below the run whose choices it begins with.
func TestExploreTree(t *testing.T) {
	h := newHandSite(t, wrongMirror())
	d := h.document("/")
	d = h.document("/" + d.Hand.On + "5")
	crash := func(d *view.Document) string {
		for _, l := range d.Hand.Next {
			if l.Fault {
				return l.Href
			}
		}
		t.Fatal("no fault is offered")
		return ""
	}
	x := h.document("/" + crash(d))
	h.document("/" + x.Hand.Next[1].Href)
	d = h.document("/" + d.Hand.On + "2")
	var got []string
	for _, b := range d.Hand.Tried {
		here := ""
		if b.Here {
			here = "*"
		}
		got = append(got, strings.Repeat(">", b.Depth)+here+b.Text)
	}
	if len(got) != 3 || got[0] != "*the ordinary course (to step 7)" || !strings.HasPrefix(got[1], ">step 6: crash(") || !strings.HasPrefix(got[2], ">>step 7: ") {
		t.Errorf("what was tried: %q", got)
	}
	found := h.document("/" + h.document("/").Hand.Search)
	if last := found.Hand.Tried[len(found.Hand.Tried)-1]; !last.Here || !strings.Contains(last.Text, ": not-linearizable)") {
		t.Errorf("the run that was found is %+v", last)
	}
}

// During a search other pages are served, and the search ends when the browser leaves its page.
func TestExploreSearchEndsWithItsPage(t *testing.T) {
	var runs atomic.Int64
	many := make(chan bool)
	s := mirror.Scenario("ordered", (*mirror.Register).Write)
	build := s.Build
	s.Build = func(c *explore.Case) (sim.Config, error) {
		c.OnReset(func() {
			if runs.Add(1) == 50 {
				close(many)
			}
		})
		return build(c)
	}
	l, err := listenLoopback("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, ended := newHandServer(s, nil, explore.Options{}, l.Addr()), make(chan int64, 1)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() {
		served <- web.Serve(ctx, l, func(ctx context.Context, r *web.Request) *web.Response {
			x := server.serve(ctx, r)
			if r.Query.Has("search") {
				ended <- runs.Load()
			}
			return x
		})
	}()
	page, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(page, "GET", "http://"+l.Addr().String()+"/"+address(explore.Walk{})+"&search", nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan bool)
	go func() {
		if a, err := http.DefaultClient.Do(r); err == nil {
			a.Body.Close()
		}
		close(gone)
	}()
	<-many
	(&handSite{t, "http://" + l.Addr().String()}).document("/")
	select {
	case n := <-ended:
		t.Errorf("another page came only after the search, of %d runs", n)
	default:
		leave()
		if n := <-ended; n > handTries/4 {
			t.Errorf("the search went on for %d runs", n)
		}
	}
	<-gone
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
