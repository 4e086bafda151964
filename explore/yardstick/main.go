// Command yardstick compares the searches with a yardstick on small programs, and prints
// what is wrong: one JSON object per line, with the keys program, class and what. It is for
// package mutant, which builds it again for each mutant of the checker.
//
//	yardstick programs PROGRAM...   do all modes reach the outcomes of the naive search?
//	yardstick audit PROGRAM...      do the rules of the search hold at sampled states?
//
// Exit status: 0 all programs were tried, 2 one could not be read, run or compared.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// finding is a line of the output.
type finding struct {
	Program string `json:"program"`
	Class   string `json:"class"` // the cause of a difference, or the claim that does not hold
	What    string `json:"what"`
}

// auditRuns is how many runs an audit samples: a second's worth.
const auditRuns = 400

// limits are more than the programs of mutants need.
var limits = programs.Limits{Runs: 5_000, States: 50_000}

var (
	errUsage = errors.New("usage: yardstick programs|audit PROGRAM [PROGRAM]")
	errLarge = errors.New("the program is too large to compare")
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "yardstick: %v\n", err)
		os.Exit(2)
	}
}

func run(args []string, w io.Writer) error {
	if len(args) < 2 {
		return errUsage
	}
	try := map[string]func(*programs.Program) ([]finding, error){"programs": compare, "audit": examine}[args[0]]
	if try == nil {
		return errUsage
	}
	out := json.NewEncoder(w)
	for _, text := range args[1:] {
		p, err := programs.Parse(text)
		if err != nil {
			return err
		}
		if err := p.Validate(); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		found, err := try(p)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		for _, f := range found {
			f.Program = text
			if err := out.Encode(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare compares the searches with the truth, which must be found.
func compare(p *programs.Program) ([]finding, error) {
	c, err := programs.Compare(p, limits)
	if err != nil {
		return nil, err
	}
	if c.Truth == programs.TooLarge {
		return nil, errLarge
	}
	if len(c.Diffs) == 0 {
		return nil, nil
	}
	var what []string
	for _, d := range c.Diffs {
		what = append(what, d.String())
	}
	return []finding{{Class: c.Cause(), What: strings.Join(what, "")}}, nil
}

// examine audits the search.
func examine(p *programs.Program) (out []finding, err error) {
	r, err := audit.Run(p.Scenario(), audit.Options{Runs: auditRuns, Seed: 1, Explore: explore.Options{Workers: 1}})
	if err != nil {
		return nil, err
	}
	for _, f := range r.Findings {
		out = append(out, finding{Class: f.Claim, What: f.Error()})
	}
	return out, nil
}
