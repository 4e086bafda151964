// Package model knows a host, and is not run by the checker.
package model

import (
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

func Stamp(host.Host) time.Time { return time.Now() }
