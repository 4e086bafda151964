package main

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/strace"
)

func stubFromTrace(*strace.Trace) (*explore.Scenario, error) { return nil, errors.New("not yet") }
