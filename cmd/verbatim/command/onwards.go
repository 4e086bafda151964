package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/internal/web"
	"github.com/verbatim-rdma/verbatim/explore"
)

// Bounds of how far a run goes on by itself.
const (
	maxOn     = 1000 // steps, at a time
	maxChoice = 400  // steps, to the next choice
)

// onwards goes on with a walk in the ordinary course: some steps, or to the next choice that matters. The run so far gets
// an address of its own.
func (h *handServer) onwards(ctx context.Context, walk explore.Walk, q url.Values) *web.Response {
	var x *explore.Stand
	var err error
	if q.Has("choice") {
		x, err = h.toChoice(ctx, walk)
	} else {
		n, wrong := strconv.Atoi(q.Get("on"))
		if wrong != nil || n < 1 || n > maxOn {
			return web.Text(web.BadRequest, fmt.Sprintf("a run goes on by 1 to %d steps at a time, not by %q", maxOn, q.Get("on")))
		}
		x, err = explore.Walk{Steps: walk.Steps + n, Decisions: walk.Decisions}.Go(h.s, h.opt)
	}
	switch {
	case errors.Is(err, explore.ErrWalk):
		return web.Text(web.BadRequest, err.Error())
	case err != nil:
		return web.Text(web.ServerError, err.Error())
	}
	return web.Redirect("/" + address(x.Walk))
}

// toChoice goes on until a step has a choice in it, such as which completion came, or the run has ended. Which actor runs
// next can be chosen everywhere, and seldom matters by itself.
func (h *handServer) toChoice(ctx context.Context, walk explore.Walk) (*explore.Stand, error) {
	for n := 1; ; n++ {
		x, err := explore.Walk{Steps: walk.Steps + n, Decisions: walk.Decisions}.Go(h.s, h.opt)
		if err != nil || x.Ended || n == maxChoice || ctx.Err() != nil {
			return x, err
		}
		for _, f := range x.Inside {
			if len(f.Ways) > 1 {
				return x, nil
			}
		}
	}
}
