package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/internal/web"
	"github.com/verbatim-rdma/verbatim/explore"
)

// Limits of the steps by which a run continues with the default choices.
const (
	maxOn     = 1000 // steps of one request
	maxChoice = 400  // steps to the next choice
)

// onwards continues a walk with the default choices, by a number of steps or to the next choice that matters. It
// redirects to the address of the longer walk.
func (h *handServer) onwards(ctx context.Context, walk explore.Walk, q url.Values) *web.Response {
	var x *explore.Stand
	var err error
	none := ""
	if q.Has("choice") {
		var found bool
		if x, found, err = h.toChoice(ctx, walk, maxChoice); err == nil && !found {
			none = "&none"
		}
	} else {
		n, wrong := strconv.Atoi(q.Get("on"))
		if wrong != nil || n < 1 || n > maxOn {
			return web.Text(web.BadRequest, fmt.Sprintf("a run continues by 1 to %d steps at a time, not by %q", maxOn, q.Get("on")))
		}
		x, err = explore.Walk{Steps: walk.Steps + n, Decisions: walk.Decisions}.Go(h.s, h.opt)
	}
	switch {
	case errors.Is(err, explore.ErrWalk):
		return web.Text(web.BadRequest, err.Error())
	case err != nil:
		return web.Text(web.ServerError, err.Error())
	}
	return web.Redirect("/" + address(x.Walk) + none)
}

// toChoice continues until a step contains a choice, such as which completion arrived, or until the run ends. It stops
// after limit steps, and found is then false. It does not stop for the choice of the next actor, which exists at every
// step and seldom matters by itself.
func (h *handServer) toChoice(ctx context.Context, walk explore.Walk, limit int) (x *explore.Stand, found bool, err error) {
	for n := 1; n <= limit && ctx.Err() == nil; n++ {
		if x, err = (explore.Walk{Steps: walk.Steps + n, Decisions: walk.Decisions}).Go(h.s, h.opt); err != nil || x.Ended {
			return x, true, err
		}
		if slices.ContainsFunc(x.Inside, func(f explore.Fork) bool { return len(f.Ways) > 1 }) {
			return x, true, nil
		}
	}
	if x == nil {
		return nil, false, ctx.Err()
	}
	return x, false, nil
}
