// Package runner takes a host, and is only run on machines.
//
//verbatim:unchecked it is the daemon
package runner

import (
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

func Run(host.Host) { time.Sleep(time.Second) }
