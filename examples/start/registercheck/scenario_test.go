package registercheck_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/examples/start/registercheck"
	"github.com/verbatim-rdma/verbatim/explore"
	_ "github.com/verbatim-rdma/verbatim/report/view/ontest" // for pages, with VERBATIM_HTML
)

func TestRecovery(t *testing.T) { explore.Test(t, registercheck.Recovery()) }
