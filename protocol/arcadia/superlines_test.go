package arcadia_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// A recovery repairs every byte of a copy's superlines, also those that are always zero.
func TestSuperlinesAreRepairedToTheLastByte(t *testing.T) {
	last := []int{63, 127} // of a superline
	damages := func(h host.Host) error {
		h.Go("damage", func() {
			h.Sleep(time.Second)
			r, err := h.OpenPMEM("log", logSize)
			if err != nil {
				t.Error(err)
				return
			}
			for _, off := range last {
				r.Store(off, []byte{1})
			}
			h.Sleep(2 * time.Second)
			for _, off := range last {
				b := make([]byte, 1)
				if r.Load(off, b); b[0] != 0 {
					t.Errorf("byte %d of the copy is still damaged", off)
				}
			}
		})
		return serve(h)
	}
	run(t, func(h host.Host) error {
		for range 2 {
			l, err := arcadia.Open(h, config(h, "backup1", "backup2"))
			if err != nil {
				return err
			}
			if _, err := l.Append([]byte("contents")); err != nil {
				return errors.Join(err, l.Close())
			}
			if err := l.Close(); err != nil {
				return fmt.Errorf("close: %w", err)
			}
			h.Sleep(2 * time.Second)
		}
		h.Sleep(time.Second)
		return nil
	}, damages, serve)
}
