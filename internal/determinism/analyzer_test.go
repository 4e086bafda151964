package determinism_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/verbatim-rdma/verbatim/internal/determinism"
)

// A protocol of any module is held to the rules, and what checks it or runs it is not.
func TestAnalyzer(t *testing.T) {
	const own = "github.com/verbatim-rdma/verbatim/"
	analysistest.Run(t, analysistest.TestData(), determinism.Analyzer, "lock", "disguised", "orders", "lockcheck", "plain", "table", "runner", "silent", "card", own+"model", own+"protocol/x")
}
