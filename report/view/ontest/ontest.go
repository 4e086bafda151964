// Package ontest makes explore.Test write a page for each violation into the folder VERBATIM_HTML.
// Import it in a test for this effect:
//
//	import _ "github.com/verbatim-rdma/verbatim/report/view/ontest"
//
// Then run
//
//	VERBATIM_HTML=pages go test ./...
//
// The folder is relative to that of the tested package, as for every file of a test.
package ontest

import (
	"io"
	"os"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

func init() { explore.WritePages(write) }

func write(w io.Writer, s *explore.Scenario, ce *explore.Counterexample, r *explore.Replay, command string) error {
	d := view.New(view.Run{Scenario: s, Counterexample: ce, Replay: r, Outcome: "fails in a test", Command: command, Read: os.ReadFile})
	d.Story = story.Tell(d)
	return view.Write(w, d)
}
