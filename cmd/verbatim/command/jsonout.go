package command

import (
	"io"
	"math"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
)

// result is the line of --json for one scenario.
type result struct {
	Scenario       string          `json:"scenario"`
	Profile        string          `json:"profile"`
	Faults         string          `json:"faults"`
	Timers         string          `json:"timers"`
	Warning        *string         `json:"warning"`
	Strategy       string          `json:"strategy"`
	Verdict        explore.Verdict `json:"verdict"`
	Exhausted      bool            `json:"exhausted"`
	Runs           uint64          `json:"runs"`
	Sampled        uint64          `json:"sampled"`
	States         uint64          `json:"states"`
	Choices        uint64          `json:"choices"`
	MaxDepth       int             `json:"max_depth"`
	Seconds        float64         `json:"seconds"`
	Workers        int             `json:"workers"`
	Counterexample *string         `json:"counterexample"`
	Reason         *string         `json:"reason"`
	Sometimes      []condition     `json:"sometimes"`
	Bounds         string          `json:"bounds"`
	EagerLog10     *float64        `json:"eager_log10"`
	Remaining      *float64        `json:"remaining"`
	Audit          *auditResult    `json:"audit"`
}

type condition struct {
	Name string `json:"name"`
	Met  bool   `json:"met"`
}

// writeJSON prints r as one line.
func writeJSON(w io.Writer, r *explore.Result, audited *audit.Report, file string) error {
	x := result{Scenario: r.Scenario, Profile: r.Profile, Faults: r.Faults, Timers: r.Timers.String(), Warning: cli.OrNull(r.Warning()), Strategy: r.Strategy, Verdict: r.Verdict,
		Exhausted: r.Exhausted, Runs: r.Runs, Sampled: r.Sampled, States: r.States, Choices: r.Choices, MaxDepth: r.MaxDepth,
		Seconds: math.Round(r.Elapsed.Seconds()*1e6) / 1e6, Workers: r.Workers, Counterexample: cli.OrNull(file),
		Reason: cli.OrNull(reason(r)), Sometimes: []condition{}, Bounds: r.Bounds, Audit: newAuditResult(audited)}
	for _, c := range r.Sometimes {
		x.Sometimes = append(x.Sometimes, condition(c))
	}
	if r.Strategy == explore.Exhaustive {
		x.EagerLog10 = finite(r.EagerLog10)
	}
	if r.Exhausted || r.Verdict == explore.RanOut {
		x.Remaining = finite(r.Remaining)
	}
	return cli.Lines(w).Encode(x)
}

// reason explains the verdict.
func reason(r *explore.Result) string {
	switch {
	case r.Reason != nil:
		return r.Reason.Error()
	case r.Counterexample != nil:
		return r.Counterexample.Class + ": " + r.Counterexample.Message
	}
	return ""
}

// finite is null for numbers without a JSON form, and for unknown estimates.
func finite(x float64) *float64 {
	if x < 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
