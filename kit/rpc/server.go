package rpc

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
)

// Serve answers calls to service as long as the host listens. handle carries out a
// request of a host and returns the answer, of at most cfg.MaxMessage bytes. The calls
// of one connection are carried out one after another in the order in which they were
// started; different connections have different tasks.
func Serve(h host.Host, service string, cfg Config, handle func(from string, req []byte) []byte) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	return lend.Serve(h, service, func(v *lend.Visitor) error {
		theirs, err := decodeConfig(v.Said)
		theirs.KeepAlive = cfg.KeepAlive // may differ
		if err == nil && theirs != cfg {
			err = fmt.Errorf("%w: the client has %+v, and the server %+v", ErrConfig, theirs, cfg)
		}
		if err != nil {
			return err
		}
		return meet(h, v, cfg, handle)
	})
}

// meet connects a client, and starts the task that answers it.
func meet(h host.Host, v *lend.Visitor, cfg Config, handle func(from string, req []byte) []byte) error {
	g, err := lend.NewGroup(h)
	if err != nil {
		return err
	}
	s, err := newSlots(g, cfg)
	if err != nil {
		note(h, g.Close())
		return err
	}
	conn, err := v.Meet(g, cfg.queues())
	if err == nil {
		err = s.open(conn)
	}
	if err != nil {
		note(h, errors.Join(s.close(), g.Close()))
		return err
	}
	h.Go("rpc "+v.From, func() {
		for s.answer(h, handle) {
		}
		note(h, errors.Join(s.close(), g.Close()))
	})
	return nil
}

// answer carries out one call. It reports whether the connection is still alive.
//
// The receive is posted again before the answer is sent, so the client has a credit
// only when there is a receive for it. The answer uses the slot of the request: the
// next request arrives in that slot only after the client has received the answer, see
// Credits.
func (s *slots) answer(h host.Host, handle func(from string, req []byte) []byte) bool {
	number, req, i, err := s.take()
	if err != nil {
		return false
	}
	answer := handle(s.conn.Peer, req)
	if len(answer) > s.cfg.MaxMessage {
		err = fmt.Errorf("%w: an answer of %d bytes", ErrTooLong, len(answer))
	} else {
		err = s.expect(i)
	}
	if err != nil {
		s.group.Fail(s.conn, err)
		return false
	}
	return s.put(i, number, answer)
}

func note(h host.Host, err error) {
	if err != nil {
		h.Logf("rpc: release a connection: %v", err)
	}
}
