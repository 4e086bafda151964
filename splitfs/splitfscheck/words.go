package splitfscheck

import (
	"fmt"
	"strings"
)

// runsOf formats contents as runs of equal bytes.
func runsOf(s string) string {
	const most = 8
	var parts []string
	for len(s) > 0 && len(parts) < most {
		n := len(s) - len(strings.TrimLeft(s, s[:1]))
		parts, s = append(parts, fmt.Sprintf("%d×%q", n, s[0])), s[n:]
	}
	if len(s) > 0 {
		parts = append(parts, "…")
	}
	return strings.Join(parts, " ")
}
