package registercheck_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/examples/start/registercheck"
	"github.com/verbatim-rdma/verbatim/explore"
)

func TestRecovery(t *testing.T) { explore.Test(t, registercheck.Recovery()) }
