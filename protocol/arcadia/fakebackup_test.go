package arcadia_test

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Backups that do not keep the protocol.

// answering answers requests without persisting anything.
func answering(wr verbs.SendWR, times int) func(h host.Host) error {
	return lending(logSize, func(int) []verbs.SendWR { return slices.Repeat([]verbs.SendWR{wr}, times) })
}

// small lends less than the log needs.
func small(h host.Host) error { return lending(64, func(int) []verbs.SendWR { return nil })(h) }

// lending lends memory, and sends answers to each request; the first is number 1.
func lending(size int, answers func(request int) []verbs.SendWR) func(h host.Host) error {
	return func(h host.Host) error {
		g, err := lend.NewGroup(h)
		if err != nil {
			return err
		}
		l, err := g.Lender()
		if err != nil {
			return err
		}
		loan, err := l.Lend(size, verbs.RemoteWrite|verbs.RemoteRead)
		if err != nil {
			return err
		}
		return lend.Serve(h, "arcadia/log", func(v *lend.Visitor) error {
			c, err := v.Meet(g, verbs.QPConfig{Access: verbs.RemoteWrite | verbs.RemoteRead}, loan)
			if err != nil {
				return err
			}
			if err := c.PostRecv(make([]verbs.RecvWR, 8)); err != nil {
				return err
			}
			h.Go("answer", func() {
				for request := 1; ; request++ {
					if _, err := g.Receive(c); err != nil {
						return
					}
					for _, wr := range answers(request) {
						_ = g.Do(c, wr)
					}
				}
			})
			return nil
		})
	}
}

func greeting(b []byte) func(h host.Host) error {
	return func(h host.Host) error {
		l, err := h.Listen("arcadia/log")
		if err != nil {
			return err
		}
		for {
			r, err := l.Accept(verbs.Forever)
			if err != nil {
				return err
			}
			r.Reply(b)
		}
	}
}
