package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Limits of the description of the choices on a page.
const (
	maxForeseen = 24 // choices with a description
	maxDeeds    = 3  // events in the description of a choice
)

// foresee describes the effect of each choice on a page. It tries the choice to find out.
func (h *handServer) foresee(x *explore.Stand, hand *view.Hand) {
	n := 0
	add := func(ways []explore.Way, links []view.Link) {
		for i := range ways {
			if n++; n > maxForeseen {
				links[i].Does = fmt.Sprintf("(only the first %d choices are described)", maxForeseen)
			} else {
				links[i].Does = h.deeds(ways[i].Walk)
			}
		}
	}
	add(x.Next, hand.Next)
	for i := range x.Inside {
		add(x.Inside[i].Ways, hand.Inside[i].Ways)
	}
}

// deeds describes the events of the last step of a walk.
func (h *handServer) deeds(w explore.Walk) string {
	x, err := w.Go(h.s, h.opt)
	if err != nil {
		return ""
	}
	re := x.Replay
	var out []string
	for i := range re.Events {
		if e := &re.Events[i]; e.Step == w.Steps && e.Kind != "violation" && !slices.Contains(out, deed(re, e)) {
			out = append(out, deed(re, e))
		}
	}
	if n := len(out) - maxDeeds; n > 0 {
		out = append(out[:maxDeeds], fmt.Sprint("and ", n, " more"))
	}
	if re.Err != nil {
		message, _, _ := strings.Cut(re.Err.Error(), "\n")
		out = append([]string{h.words("the promise breaks", "the outcome is reached") + ": " + message}, out...)
	}
	return strings.Join(out, "; ")
}

// deed describes one event.
func deed(re *explore.Replay, e *sim.TraceEvent) string {
	text := e.Text
	if e.Request >= 0 && re.Record != nil {
		r := &re.Record.Requests[e.Request]
		of := fmt.Sprintf("%s #%d to %s", r.Op, r.Number, re.Hosts[r.Peer])
		switch {
		case e.Kind == "completion" && r.Status == "SUCCESS":
			text = "sees the completion of " + of
		case e.Kind == "completion":
			text = fmt.Sprintf("sees that %s failed: %s", of, r.Status)
		case e.Kind == "post":
			text = "posts " + of
		case e.Kind == "land":
			text = fmt.Sprintf("has a part of %s #%d of %s in memory", r.Op, r.Number, re.Hosts[r.Host])
		}
	}
	return strings.TrimSpace(e.Host + " " + text)
}
