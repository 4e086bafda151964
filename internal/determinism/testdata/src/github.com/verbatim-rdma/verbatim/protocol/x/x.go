// Package x is a protocol of this module.
package x

import (
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

func Stamp(host.Host) time.Time { return time.Now() } // want "time.Now in"
