package splitfscheck

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
)

// told is an operation, for those who draw a run.
type told struct {
	text, result string
	begin, end   int64
}

func (m *memory) begin(text string) int {
	m.told = append(m.told, told{text: text, begin: m.c.Step(), end: -1})
	return len(m.told) - 1
}

func (m *memory) end(op int, err error) {
	m.told[op].end, m.told[op].result = m.c.Step(), "returns"
	if err != nil {
		m.told[op].result = err.Error()
	}
}

func (m *memory) operations() (out []explore.Operation) {
	for _, o := range m.told {
		out = append(out, explore.Operation{Client: "app", Call: o.text, Result: o.result, Begin: o.begin, End: o.end})
	}
	return out
}

// runsOf tells a content as runs of equal bytes.
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
