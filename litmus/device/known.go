package device

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrKnown is wrapped by errors about a list of known differences.
var ErrKnown = errors.New("device: bad list of known differences")

// Known is a difference between cards and a profile that was investigated and blamed on
// the card.
type Known struct {
	// Test is the name of a test and State a final state of it; in both, * stands for
	// any characters. State is "refused" if the cards refuse one of the statements, and
	// "late" stands for all states that lack a completion which arrived only after more
	// requests were posted. A lost completion never arrives.
	Test, State string
	Why         string
}

// States that are none of a test's.
const (
	refused = "refused"
	late    = "late"
)

// ReadKnown parses a list of known differences, one per line: TEST | STATE | WHY. Empty
// lines and lines that begin with # are ignored. The error wraps [ErrKnown].
func ReadKnown(name string, r io.Reader) ([]Known, error) {
	var out []Known
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
			return nil, fmt.Errorf("%w: %s:%d: want TEST | STATE | WHY, found %q", ErrKnown, name, n, line)
		}
		out = append(out, Known{parts[0], parts[1], parts[2]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKnown, name, err)
	}
	return out, nil
}

// known is the reason why a test may reach a state that the profile forbids; empty: it may not.
func (r *Rig) known(test, state string) string {
	for _, k := range r.cfg.Known {
		if like(k.Test, test) && like(k.State, state) {
			return k.Why
		}
	}
	return ""
}

// like reports whether s matches a pattern.
func like(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == pattern
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for s = s[len(head):]; !like(rest, s); s = s[1:] {
		if s == "" {
			return false
		}
	}
	return true
}
