// Package silent does not say why it is left out.
package silent

/* want "verbatim:unchecked has no reason; say who runs the package" */ //verbatim:unchecked

import (
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

func Run(host.Host) { time.Sleep(time.Second) }
