package determinism_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/verbatim-rdma/verbatim/internal/determinism"
)

// A protocol of any module is held to the rules, and what checks it or runs it is not.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), determinism.Analyzer, "lock", "disguised", "lockcheck", "plain", "table", "runner", "silent", "card")
}
