// Package lockcheck has scenarios: it is not run by hosts.
package lockcheck

import (
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
)

var Began = time.Now()

func Scenario(host.Host) *explore.Scenario { return nil }
