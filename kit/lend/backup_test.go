package lend_test

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// A backup like Arcadia's: the primary writes a record with an immediate; the backup
// makes it persistent and answers with an empty Send. The immediate encodes the
// record's offset, in lines of 64 bytes, and its length.

const (
	line       = 64
	lines      = 4 // of the log
	backupConn = 2 // records in flight
)

// serveBackup runs a backup with a log in persistent memory. persist makes a record
// persistent.
func serveBackup(h host.Host, persist func(log *lend.Loan, off, n int)) error {
	g, err := lend.NewGroup(h)
	if err != nil {
		return err
	}
	l, err := g.Lender()
	if err != nil {
		return err
	}
	log, err := l.LendPersistent("log", lines*line, verbs.RemoteWrite)
	if err != nil {
		return err
	}
	return lend.Serve(h, "backup", func(v *lend.Visitor) error {
		c, err := v.Meet(g, verbs.QPConfig{Access: verbs.RemoteWrite, MaxRecvWR: backupConn}, log)
		if err != nil {
			return err
		}
		if err := c.PostRecv(make([]verbs.RecvWR, backupConn)); err != nil {
			return err
		}
		h.Go("persist for "+v.From, func() {
			for answer(g, c, log, persist) == nil {
			}
			h.Logf("%v", g.Drop(c))
		})
		return nil
	})
}

// answer waits for one record, makes it persistent and acknowledges it.
func answer(g *lend.Group, c *lend.Conn, log *lend.Loan, persist func(log *lend.Loan, off, n int)) error {
	wc, err := g.Receive(c)
	if err != nil {
		return err
	}
	persist(log, int(wc.Imm>>16)*line, int(wc.Imm&0xffff)*line)
	if err := c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
		return err
	}
	return g.Do(c, verbs.SendWR{Op: verbs.OpSend})
}

func flush(log *lend.Loan, off, n int) {
	log.Region.Flush(off, n)
	log.Region.Fence()
}
