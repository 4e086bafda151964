package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/view"
)

// maxAddress bounds the run in an address, in bytes; a run with so many decisions is
// made by nobody's hand.
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
	mu    sync.Mutex
}

func newHandServer(s *explore.Scenario, judge func(final, profile string) []litmus.Judgement, opt explore.Options, at net.Addr) http.Handler {
	_, port, _ := net.SplitHostPort(at.String())
	h := &handServer{s: s, judge: judge, opt: opt, hosts: []string{at.String(), net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port)}}
	return http.HandlerFunc(h.serve)
}

// serve answers one request. A page of another site can neither read what it says, nor
// make it work, nor pass itself off as this one under a name of its own.
func (h *handServer) serve(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case !slices.Contains(h.hosts, r.Host):
		http.Error(w, "this page answers to localhost only", http.StatusForbidden)
	case site != "" && site != "none" && site != "same-origin", r.Header.Get("Origin") != "":
		http.Error(w, "another site asked for this page: open its address by yourself", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "it is only there to be read", http.StatusMethodNotAllowed)
	case r.URL.Path != "/":
		http.NotFound(w, r)
	default:
		h.page(w, r)
	}
}

func (h *handServer) page(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	walk, err := parseWalk(q.Get("run"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if q.Has("steps") { // the beginning of the run: its address is then its own
		n, err := strconv.Atoi(q.Get("steps"))
		if err != nil || n < 0 || n > walk.Steps {
			http.Error(w, fmt.Sprintf("the run in the address has %d steps: it has no first %q of them", walk.Steps, q.Get("steps")), http.StatusBadRequest)
			return
		}
		walk.Steps = n
		http.Redirect(w, r, "/"+address(walk), http.StatusSeeOther)
		return
	}
	h.mu.Lock() // one run at a time: a scenario's code may be anything
	defer h.mu.Unlock()
	said := ""
	if from, err := strconv.Atoi(q.Get("from")); err == nil {
		said = fmt.Sprintf("A search from step %d found this: it %s.", from, h.words("breaks the promise", "reaches an outcome that the test asks for"))
	}
	if q.Has("search") {
		found, err := h.search(r, walk)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		case found.Found != nil: // so that the address of what was found holds it
			http.Redirect(w, r, "/"+address(*found.Found)+"&from="+strconv.Itoa(walk.Steps), http.StatusSeeOther)
			return
		}
		said = fmt.Sprintf("%d ways to go on from step %d were tried, the ordinary one and others at random: none %s.", found.Tried, walk.Steps,
			h.words("broke the promise", "reached an outcome that the test asks for"))
	}
	x, err := walk.Go(h.s, h.opt)
	if errors.Is(err, explore.ErrWalk) {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var b bytes.Buffer
	if err == nil {
		err = view.Write(&b, h.document(x, said))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // whoever asked may be gone
}

// words are those for a protocol, or for a litmus test.
func (h *handServer) words(protocol, test string) string {
	if h.judge != nil {
		return test
	}
	return protocol
}

// search looks for a violation from a walk.
func (h *handServer) search(r *http.Request, walk explore.Walk) (*explore.Search, error) {
	opt, end := h.opt, time.Now().Add(handTime)
	opt.Stop = func() bool { return time.Now().After(end) || r.Context().Err() != nil }
	return walk.Search(h.s, opt, handTries)
}

// document is the page of a stand.
func (h *handServer) document(x *explore.Stand, said string) *view.Document {
	hand := &view.Hand{Start: address(explore.Walk{}), Here: address(x.Walk), Said: said, Next: links(x.Next, -1), Inside: []view.Fork{}, Final: x.Outcome, Outcomes: h.outcomes(x)}
	if x.Walk.Steps > 0 {
		hand.Back = address(explore.Walk{Steps: x.Walk.Steps - 1, Decisions: x.Walk.Decisions})
	}
	if !x.Ended {
		hand.Search = address(x.Walk) + "&search"
	}
	for _, f := range x.Inside {
		hand.Inside = append(hand.Inside, view.Fork{Kind: f.Kind, Ways: links(f.Ways, f.Taken)})
	}
	outcome := fmt.Sprintf("after step %d", x.Walk.Steps)
	if x.Ended {
		outcome = "ended after " + number(uint64(x.Walk.Steps), "step")
	}
	ce := &explore.Counterexample{Scenario: h.s.Name, Profile: x.Replay.Profile.Name, Faults: h.opt.Faults}
	if ce.Timers = h.opt.Timers; ce.Timers == "" {
		ce.Timers = h.s.Timers
	}
	if ce.Faults == "" {
		ce.Faults = h.s.Faults
	}
	return view.New(view.Run{Scenario: h.s, Counterexample: ce, Replay: x.Replay, Outcome: outcome,
		Command: "verbatim explore " + explore.Quote(h.s.Name), Litmus: litmus.IsScenario(h.s.Name), Read: os.ReadFile, Hand: hand})
}

// outcomes are those of a litmus test, once its run has ended.
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

// address is where the page of a walk is; parseWalk reads what is in it.
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
		return w, fmt.Errorf("the run in the address has %d characters, and may have %d", len(text), maxAddress)
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil {
		return w, fmt.Errorf("the address is not whole, it holds no run: %w", err)
	}
	return w, nil
}
