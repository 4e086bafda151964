package sift

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// dialer connects to memory nodes.
type dialer struct {
	h     host.Host
	cfg   *Config
	group *lend.Group
	say   request
	size  int // of the region there
}

// dial connects to all of peers at once, and returns a connection for each, nil where that
// failed. The error is about this host.
func (d *dialer) dial(peers []string) ([]*lend.Conn, error) {
	conns := make([]*lend.Conn, len(peers))
	for i, p := range peers {
		var err error
		if conns[i], err = d.group.Prepare(p, d.queues()); err != nil {
			return nil, errors.Join(err, d.group.Drop(conns[:i]...))
		}
	}
	answers := d.group.Ask(conns, service, func(c *lend.Conn) []byte {
		return append(lend.AppendEndpoint(nil, c.Endpoint()), d.say.encode()...)
	}, d.cfg.CallTimeout).Wait(len(conns))
	for i := range host.InAnyOrder(d.h, peers) {
		if err := conns[i].Answered(&answers[i], d.size); err != nil {
			d.h.Logf("no connection to %s: %v", peers[i], malformed(err))
			if err := d.group.Drop(conns[i]); err != nil {
				return nil, err
			}
			conns[i] = nil
		}
	}
	return conns, nil
}

func (d *dialer) queues() verbs.QPConfig {
	return verbs.QPConfig{MaxSendWR: d.cfg.QueueDepth, MaxRecvWR: 1, MaxSGE: 1, MaxInline: d.h.Device().Attr().MaxInline}
}

// malformed returns the error for an answer that is not one of a memory node.
func malformed(err error) error {
	if errors.Is(err, lend.ErrMalformed) {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return err
}
