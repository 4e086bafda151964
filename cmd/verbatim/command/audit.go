package command

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// audited checks a scenario and audits the search.
func (f *checkFlags) audited(s *explore.Scenario, opt explore.Options) (*explore.Result, *audit.Report, error) {
	x, err := audit.Run(s, audit.Options{Explore: opt, Runs: f.auditRuns, Seed: opt.Seed})
	if x == nil {
		return nil, nil, err
	}
	if errors.Is(err, explore.ErrHang) {
		doubt(x.Result, err)
		err = nil
	}
	if len(x.Findings) > 0 {
		doubt(x.Result, x.Findings[0])
	}
	return x.Result, x, err
}

// doubt makes a verdict unknown if a rule that it relies on does not hold. A violation remains:
// its run proves it.
func doubt(r *explore.Result, why error) {
	if r.Verdict != explore.Violated {
		r.Verdict, r.Exhausted, r.Reason = explore.Unknown, false, why
	}
}

// claimNames are the claims in one word, for --json.
var claimNames = map[string]string{audit.Commute: "commute", audit.Alone: "alone", audit.Symmetry: "symmetry", audit.Twins: "twins", audit.Placement: "placement"}

// claim is the JSON form of one claim.
type claim struct {
	Name    string        `json:"name"`
	Claim   string        `json:"claim"`
	Tested  int           `json:"tested"`
	Holds   bool          `json:"holds"`
	Finding *claimFinding `json:"finding"`
}

// claimFinding is the first test that failed: the steps to a state, the steps there that fail,
// and, where two orders were compared, the steps of the other order.
type claimFinding struct {
	Why   string   `json:"why"`
	After []string `json:"after"`
	Steps []string `json:"steps"`
	Other []string `json:"other"`
}

// auditResult is the JSON form of an audit.
type auditResult struct {
	Seed        uint64  `json:"seed"`
	Interrupted bool    `json:"interrupted"`
	Claims      []claim `json:"claims"`
}

func newAuditResult(x *audit.Report) *auditResult {
	if x == nil {
		return nil
	}
	out := &auditResult{Seed: x.Seed, Interrupted: x.Stopped}
	for _, c := range audit.Claims {
		y := claim{Name: claimNames[c], Claim: c, Tested: x.Tried[c], Holds: true}
		if i := slices.IndexFunc(x.Findings, func(f *audit.Finding) bool { return f.Claim == c }); i >= 0 {
			y.Holds, y.Finding = false, newClaimFinding(x.Findings[i])
		}
		out.Claims = append(out.Claims, y)
	}
	return out
}

func newClaimFinding(f *audit.Finding) *claimFinding {
	out := &claimFinding{Why: f.Why, After: append([]string{}, f.Path...), Steps: append([]string{}, f.Steps...), Other: []string{}}
	if (f.Claim == audit.Commute || f.Claim == audit.Alone) && len(f.Steps) == 2 {
		out.Other = []string{f.Steps[1], f.Steps[0]}
	}
	return out
}

// auditText writes an audit as text.
func auditText(b *strings.Builder, x *audit.Report) {
	if x == nil {
		return
	}
	field(b, "audit", "the rules by which the search skips steps, tested at sampled states (seed "+strconv.FormatUint(x.Seed, 10)+")")
	if x.Stopped {
		field(b, "interrupted", "the audit was stopped before its last run")
	}
	for _, c := range newAuditResult(x).Claims {
		switch {
		case !c.Holds:
			field(b, "FAILS", c.Claim+" (tested "+times(c.Tested)+")")
			field(b, "", c.Finding.Why)
			field(b, "  after", joined(c.Finding.After))
			field(b, "  one way", joined(c.Finding.Steps))
			field(b, "  other", joined(c.Finding.Other))
		case c.Tested == 0 && c.Claim == audit.Placement && x.Result.Verdict != explore.Verified:
			field(b, "not tested", c.Claim+": it requires a search that has verified the scenario")
		case c.Tested == 0 && x.Stopped:
			field(b, "not tested", c.Claim)
		case c.Tested == 0:
			field(b, "not tested", c.Claim+": the rule was not used here")
		default:
			field(b, "holds", c.Claim+" (tested "+times(c.Tested)+")")
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return number.Commas(n) + " times"
}

func joined(steps []string) string { return strings.Join(steps, " · ") }
