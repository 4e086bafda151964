package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

var (
	// ErrUnknownHost is the cause of an error about a pattern that matches no
	// host.
	ErrUnknownHost = errors.New("matches no host")
	// ErrBadRule is the cause of an error about a rule that cannot come from a text,
	// such as one with a wrong number of hosts.
	ErrBadRule = errors.New("bad rule")
)

// Validate checks the budget against the hosts of a scenario. Every pattern must match
// one of them, or, for kinds about a link, two of them together: a rule that can never
// apply would silently check less than was asked. Errors wrap [ErrUnknownHost], or
// [ErrBadRule] for budgets that were built rather than parsed.
func (b Budget) Validate(hosts []string) error {
	if err := b.validateRules(); err != nil {
		return err
	}
	for _, r := range b {
		if err := r.validateHosts(hosts); err != nil {
			return err
		}
	}
	return nil
}

func (r Rule) validateHosts(hosts []string) error {
	for _, pattern := range r.Hosts {
		if !matchesAny(pattern, hosts) {
			return fmt.Errorf("faults: rule %v: pattern %q %w; %s%s",
				r, pattern, ErrUnknownHost, listHosts(hosts), mistake.DidYouMean(pattern, hosts))
		}
	}
	if len(r.Hosts) == 2 && !r.matchesAnyPair(hosts) {
		return fmt.Errorf("faults: rule %v: patterns %q and %q do not match two different hosts: %w; %s",
			r, r.Hosts[0], r.Hosts[1], ErrUnknownHost, listHosts(hosts))
	}
	return nil
}

func matchesAny(pattern string, hosts []string) bool {
	for _, h := range hosts {
		if matchGlob(pattern, h) {
			return true
		}
	}
	return false
}

func (r Rule) matchesAnyPair(hosts []string) bool {
	for i, a := range hosts {
		for _, b := range hosts[i+1:] {
			if r.Matches(a, b) {
				return true
			}
		}
	}
	return false
}

func listHosts(hosts []string) string {
	if len(hosts) == 0 {
		return "there are no hosts"
	}
	return "the hosts are " + strings.Join(hosts, ", ")
}

// validateRules repeats the checks of the parser.
func (b Budget) validateRules() error {
	if len(b) > MaxRules {
		return fmt.Errorf("faults: %w: %d rules, at most %d are allowed", ErrBadRule, len(b), MaxRules)
	}
	for i, r := range b {
		if problem := r.problem(); problem != "" {
			return fmt.Errorf("faults: %w %v: %s", ErrBadRule, r, problem)
		}
		if first := b[:i].find(r); first >= 0 {
			return fmt.Errorf("faults: %w %v: %s is bounded already by rule %d", ErrBadRule, r, r.subject(), first+1)
		}
	}
	return nil
}

// problem describes what is wrong with the rule on its own, or is empty.
func (r Rule) problem() string {
	if !r.Kind.Valid() {
		return ErrUnknownKind.Error()
	}
	if len(r.Hosts) != r.Kind.Arity() {
		return fmt.Sprintf("%v takes %s, not %d", r.Kind, hostCount(r.Kind.Arity()), len(r.Hosts))
	}
	for _, h := range r.Hosts {
		if !validName(h) {
			return "not a host pattern: " + strconv.Quote(h)
		}
	}
	if r.Max < 0 || r.Max > MaxCount {
		return fmt.Sprintf("the count must be 0 to %d", MaxCount)
	}
	return ""
}
