package soak

import (
	"context"
	"fmt"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
)

// start starts `verbatim-run ncl ARGS`.
func (s *soak) start(name string, args ...string) (*process.Process, error) {
	p := process.Program{Path: s.cfg.Program, Env: s.cfg.Env, Logs: s.cfg.Dir}
	return p.Start(name, fmt.Sprint("round ", s.round), append([]string{"ncl"}, args...)...)
}

// serve starts a coordinator or a peer, and returns when it is ready, with its address.
func (s *soak) serve(ctx context.Context, name string, args ...string) (*process.Process, string, error) {
	p, err := s.start(name, append(args, "--listen", "127.0.0.1:0")...)
	if err != nil {
		return nil, "", err
	}
	s.running = append(s.running, p)
	addr, err := p.Ready(ctx, s.cfg.Patience)
	return p, addr, err
}
