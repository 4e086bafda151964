package command

import (
	"fmt"
	"path"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
)

// find returns the scenarios that the arguments name, in order. An argument names all scenarios of a
// protocol, one scenario, or those that a pattern matches. Deep scenarios must be named, or requested by deep.
func find(names []string, deep bool) ([]*explore.Scenario, error) {
	var out []*explore.Scenario
	for _, name := range names {
		found, err := findOne(name, deep)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if explore.Named(out, s.Name) == nil {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func findOne(name string, deep bool) ([]*explore.Scenario, error) {
	if isPattern(name) {
		return matching(name, deep)
	}
	p, err := protocolOf(name)
	switch {
	case err != nil:
		return nil, err
	case strings.Contains(name, "/"):
		if s := explore.Named(p.named(), name); s != nil {
			return []*explore.Scenario{s}, nil
		}
		return nil, noScenario(p, name)
	case deep:
		return p.all(), nil
	}
	return p.Scenarios(), nil
}

// isPattern reports whether a name has wildcards, as in a shell.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// matching returns the scenarios that a pattern matches, or those of the protocols that it matches
// if it has no slash.
func matching(pattern string, deep bool) ([]*explore.Scenario, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q: %w: * matches any letters, ? one letter, [a-c] one of these", pattern, err)
	}
	var out []*explore.Scenario
	var hidden []string
	for i := range protocols {
		p := &protocols[i]
		usual := len(p.Scenarios())
		for at, s := range p.all() {
			switch {
			case !matches(pattern, p.Name, s.Name):
			case at >= usual && !deep:
				hidden = append(hidden, s.Name)
			default:
				out = append(out, s)
			}
		}
	}
	if len(out) == 0 && len(hidden) > 0 {
		return nil, fmt.Errorf("%q matches only scenarios that take hours: add --deep for %s", pattern, cli.List(hidden))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no scenario matches %q; known: %s", pattern, cli.List(scenarioNames()))
	}
	return out, nil
}

// matches reports whether a valid pattern matches a scenario, or its protocol if it has no slash.
func matches(pattern, protocol, scenario string) bool {
	name := scenario
	if !strings.Contains(pattern, "/") {
		name = protocol
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// spelled returns the arguments, with patterns replaced by the names of found scenarios.
func spelled(args []string, found []*explore.Scenario) []string {
	var out []string
	for _, a := range args {
		if !isPattern(a) {
			out = append(out, a)
			continue
		}
		for _, s := range found {
			if p, _, _ := strings.Cut(s.Name, "/"); matches(a, p, s.Name) {
				out = append(out, s.Name)
			}
		}
	}
	return out
}
