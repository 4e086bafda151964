package command

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/internal/web"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/report/view"
)

// maxAddress bounds the run in an address, in bytes; a run with so many decisions is
// not made by hand.
const maxAddress = 64 << 10

// Bounds of a search from a page.
const (
	handTries = 20_000
	handTime  = 5 * time.Second
)

// handServer serves the pages of runs that are made by hand.
type handServer struct {
	s     *explore.Scenario
	judge func(final, profile string) []litmus.Judgement // of a litmus test; nil: it is none
	opt   explore.Options
	hosts []string // names that it answers to
	tried tried
}

func newHandServer(s *explore.Scenario, judge func(final, profile string) []litmus.Judgement, opt explore.Options, at net.Addr) *handServer {
	_, port, _ := net.SplitHostPort(at.String())
	return &handServer{s: s, judge: judge, opt: opt, hosts: []string{at.String(), net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port)}}
}

// handHeaders are the headers of every answer: no other site may read, frame or keep it.
var handHeaders = []string{"X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY", "Referrer-Policy", "no-referrer",
	"Cross-Origin-Resource-Policy", "same-origin", "Cross-Origin-Opener-Policy", "same-origin", "Cache-Control", "no-store"}

// serve answers one request. A page of another site can neither read the answer, nor start a
// search, nor reach this server under another host name.
func (h *handServer) serve(ctx context.Context, r *web.Request) *web.Response {
	site := r.Header("Sec-Fetch-Site")
	var x *web.Response
	switch {
	case !slices.Contains(h.hosts, r.Host):
		x = web.Text(web.Forbidden, "this server accepts requests to localhost only")
	case site != "" && site != "none" && site != "same-origin", r.Header("Origin") != "":
		x = web.Text(web.Forbidden, "cross-site request refused: open the address of the page directly")
	case r.Method != "GET" && r.Method != "HEAD":
		x = web.Text(web.MethodNotAllowed, "only GET and HEAD are supported")
	case r.Path != "/":
		x = web.Text(web.NotFound, "the only page is /")
	default:
		x = h.page(ctx, r.Query)
	}
	x.Header = append(x.Header, handHeaders...)
	return x
}

func (h *handServer) page(ctx context.Context, q url.Values) *web.Response {
	walk, err := parseWalk(q.Get("run"))
	if err != nil {
		return web.Text(web.BadRequest, err.Error())
	}
	if q.Has("steps") { // the start of the run, which then has an address of its own
		n, err := strconv.Atoi(q.Get("steps"))
		if err != nil || n < 0 || n > walk.Steps {
			return web.Text(web.BadRequest, fmt.Sprintf("the run in the address has %d steps: it has no step %q", walk.Steps, q.Get("steps")))
		}
		walk.Steps = n
		return web.Redirect("/" + address(walk))
	}
	if q.Has("on") || q.Has("choice") {
		return h.onwards(ctx, walk, q)
	}
	said := ""
	if from, err := strconv.Atoi(q.Get("from")); err == nil {
		said = fmt.Sprintf("A search from step %d found this run: it %s.", from, h.words("breaks the promise", "reaches an outcome that the test asks for"))
	}
	if q.Has("none") {
		said = fmt.Sprintf("None of the %d steps before this one has a choice in it.", maxChoice)
	}
	if q.Has("search") {
		found, err := h.search(ctx, walk)
		switch {
		case err != nil:
			return web.Text(web.ServerError, err.Error())
		case found.Found != nil: // so that the address contains the found run
			return web.Redirect("/" + address(*found.Found) + "&from=" + strconv.Itoa(walk.Steps))
		}
		said = fmt.Sprintf("%d continuations of step %d were tried, the default one and random ones: none %s.", found.Tried, walk.Steps,
			h.words("broke the promise", "reached an outcome that the test asks for"))
	}
	x, err := walk.Go(h.s, h.opt)
	if errors.Is(err, explore.ErrWalk) {
		return web.Text(web.BadRequest, err.Error())
	}
	var b bytes.Buffer
	if err == nil {
		h.tried.add(x)
		err = view.Write(&b, h.document(x, said))
	}
	if err != nil {
		return web.Text(web.ServerError, err.Error())
	}
	return &web.Response{Status: web.OK, Header: []string{"Content-Type", "text/html; charset=utf-8"}, Body: b.Bytes()}
}

// words are the words for a protocol, or for a litmus test.
func (h *handServer) words(protocol, test string) string {
	if h.judge != nil {
		return test
	}
	return protocol
}

// search tries continuations of a walk, until one is a violation, the time is over or the browser leaves the page.
func (h *handServer) search(ctx context.Context, walk explore.Walk) (*explore.Search, error) {
	opt, end := h.opt, time.Now().Add(handTime)
	opt.Stop = func() bool { return time.Now().After(end) || ctx.Err() != nil }
	return walk.Search(h.s, opt, handTries)
}

// document returns the page for a position of a walk.
func (h *handServer) document(x *explore.Stand, said string) *view.Document {
	hand := &view.Hand{Start: address(explore.Walk{}), Here: address(x.Walk), Said: said, Next: links(x.Next, -1), Inside: []view.Fork{},
		Tried: h.tried.tree(x), Final: x.Outcome, Outcomes: h.outcomes(x)}
	if x.Walk.Steps > 0 {
		hand.Back = address(explore.Walk{Steps: x.Walk.Steps - 1, Decisions: x.Walk.Decisions})
	}
	if !x.Ended {
		hand.Search, hand.On, hand.Choice = address(x.Walk)+"&search", address(x.Walk)+"&on=", address(x.Walk)+"&choice"
	}
	for _, f := range x.Inside {
		hand.Inside = append(hand.Inside, view.Fork{Kind: f.Kind, Ways: links(f.Ways, f.Taken)})
	}
	h.foresee(x, hand)
	outcome := fmt.Sprintf("after step %d", x.Walk.Steps)
	if x.Ended {
		outcome = "ended after " + number.Of(x.Walk.Steps, "step")
	}
	ce := &explore.Counterexample{Scenario: h.s.Name, Profile: x.Replay.Profile.Name, Faults: h.opt.Faults}
	if ce.Timers = h.opt.Timers; ce.Timers == "" {
		ce.Timers = h.s.Timers
	}
	if ce.Faults == "" {
		ce.Faults = h.s.Faults
	}
	return document(view.Run{Scenario: h.s, Counterexample: ce, Replay: x.Replay, Outcome: outcome,
		Command: programName() + " explore " + explore.Quote(h.s.Name), Litmus: litmus.IsScenario(h.s.Name), Read: os.ReadFile, Hand: hand})
}

// outcomes are the outcomes of a litmus test, once its run has finished.
func (h *handServer) outcomes(x *explore.Stand) []view.Outcome {
	out := []view.Outcome{}
	if h.judge == nil || !x.Ended {
		return out
	}
	profile := x.Replay.Profile.Name
	for _, j := range h.judge(x.Outcome, profile) {
		said := "nothing of profile " + profile
		switch j.Expected {
		case litmus.Reachable:
			said = "some run reaches it with profile " + profile
		case litmus.Unreachable:
			said = "no run reaches it with profile " + profile
		}
		out = append(out, view.Outcome{Name: j.Name, Cond: j.Cond, Met: j.Met, Expected: said})
	}
	return out
}

func links(ways []explore.Way, taken int) []view.Link {
	out := []view.Link{}
	for i, w := range ways {
		out = append(out, view.Link{Text: w.Name, Href: address(w.Walk), Fault: w.Fault, Taken: i == taken})
	}
	return out
}

// address returns where the page of a walk is; parseWalk reads what is in it.
func address(w explore.Walk) string {
	b, err := json.Marshal(w)
	if err != nil {
		return "" // strings and numbers always have a form
	}
	return "?" + url.Values{"run": {base64.RawURLEncoding.EncodeToString(b)}}.Encode()
}

func parseWalk(text string) (explore.Walk, error) {
	var w explore.Walk
	if text == "" {
		return w, nil
	}
	if len(text) > maxAddress {
		return w, fmt.Errorf("the run in the address has %d characters; the limit is %d", len(text), maxAddress)
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil {
		return w, fmt.Errorf("the address is incomplete: it contains no run: %w", err)
	}
	return w, nil
}
