package command

import (
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// Another module links the checker and its own protocols: none of this module's.
func TestLinksNoProtocol(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Errorf("%d packages", len(packages))
	}
	for _, p := range packages {
		if rest, own := strings.CutPrefix(p, "github.com/verbatim-rdma/verbatim/"); own &&
			(strings.HasSuffix(path.Base(rest), "check") || strings.Contains(" protocol splitfs cluster examples ", " "+strings.Split(rest, "/")[0]+" ")) {
			t.Errorf("it links %s", p)
		}
	}
}

// A program that cannot work reports that at its start, with the reason.
func TestProgramIsValidated(t *testing.T) {
	scenarios := func() []*explore.Scenario { return []*explore.Scenario{restartFails("p/one")} }
	of := func(all ...*explore.Scenario) []Protocol {
		return []Protocol{{Name: "p", Scenarios: func() []*explore.Scenario { return all }}}
	}
	for want, protocols := range map[string][]Protocol{
		"at least one":                             nil,
		`cannot be called ""`:                      {{Scenarios: scenarios}},
		`cannot be called "p/q"`:                   {{Name: "p/q", Scenarios: scenarios}},
		"cannot be called explore":                 {{Name: "explore", Scenarios: scenarios}},
		"cannot be called litmus":                  {{Name: "litmus", Scenarios: scenarios}},
		"Scenarios is nil":                         {{Name: "p"}},
		"two protocols are called p":               {{Name: "p", Scenarios: scenarios}, {Name: "p", Scenarios: scenarios}},
		`"p/one"; its name must begin wi`:          {{Name: "q", Scenarios: scenarios}},
		"protocol p: there is nothing to check: ":  of(),
		"scenario 2 is nil":                        of(restartFails("p/one"), nil),
		`called "p/"; its name must begin with p/`: of(restartFails("p/")),
		`called "p/a b"`:                           of(restartFails("p/a b")),
		`called "p/a*"`:                            of(restartFails("p/a*")),
		"scenario p/one: Build is nil":             of(&explore.Scenario{Name: "p/one"}),
		"two scenarios are called p/one":           of(restartFails("p/one"), restartFails("p/one")),
		"two scenarios are called p/two": {{Name: "p", Scenarios: scenarios,
			Deep:   func() []*explore.Scenario { return []*explore.Scenario{restartFails("p/two")} },
			Broken: func() []*explore.Scenario { return []*explore.Scenario{restartFails("p/two")} }}},
	} {
		var b strings.Builder
		if code := (Program{Protocols: protocols}).Run([]string{"list"}, io.Discard, &b); code != 2 || !strings.Contains(b.String(), want) {
			t.Errorf("status %d, %q; want %q", code, &b, want)
		}
	}
}

// A regression test names the list that has its scenario.
func TestGoExpressionOfEachList(t *testing.T) {
	one := func(name string) func() []*explore.Scenario {
		return func() []*explore.Scenario { return []*explore.Scenario{restartFails(name)} }
	}
	p := &Protocol{Name: "p", Scenarios: one("p/usual"), Deep: one("p/deep"), Broken: one("p/broken"), GoScenarios: "usual", GoDeep: "deep", GoBroken: "broken"}
	for _, list := range []string{"usual", "deep", "broken"} {
		if got := p.goScenarios("p/" + list); got != list {
			t.Errorf("p/%s is in %s", list, got)
		}
	}
}

// A program with its own protocols has its own name in every help text, and none of the examples of command verbatim.
func TestHelpOfAnotherProgram(t *testing.T) {
	root := newRoot("")
	rename(root, "lock")
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, x := range c.Commands() {
			if strings.Contains(x.Long+x.Flags().FlagUsages(), "verbatim ") || x.Example != "" {
				t.Errorf("%s: %s%s%s", x.Name(), x.Long, x.Example, x.Flags().FlagUsages())
			}
			visit(x)
		}
	}
	visit(root)
	use(t, Protocol{Name: "p", Scenarios: func() []*explore.Scenario { return []*explore.Scenario{restartFails("p/one")} }})
	if got := examples("lock"); !strings.Contains(got, "  lock check p/one --profile relaxed\n  lock replay p-one.counterexample.json\n") {
		t.Error(got)
	}
}

// What a program remarks on stderr begins with its own name.
func TestRemarksOfAnotherProgram(t *testing.T) {
	useDemo(t)
	running := source.Running
	t.Cleanup(func() { source.Running = running })
	source.Running = func() source.Program { return source.Program{Module: "example.com/lock", Package: "example.com/lock"} }
	write(t, "cells", "no cell\n")
	for args, want := range map[string]string{
		"check demo --stop-at-first --faults crash(a)<=1": "lock: stopped at the first violation: not checked: demo/second\n",
		"check bad": "lock: demo/broken: ",
		"check demo --report r.html --matrix cells": "output of `lock matrix --json`",
	} {
		if _, _, stderr := call(strings.Fields(args)...); !strings.Contains(stderr, want) || strings.Contains(stderr, "verbatim: ") {
			t.Errorf("%s: %s", args, stderr)
		}
	}
}
