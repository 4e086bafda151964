//go:build linux

package bench

import (
	"context"
	"errors"

	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// RunPeer runs the other side of measurements on cards, for verbs and for NCL, until ctx
// is done.
func RunPeer(ctx context.Context, cfg PeerConfig) (err error) {
	dev, err := hw.Open(hw.Config{Device: cfg.Device, MTU: cfg.MTU})
	if err != nil {
		return err
	}
	h, err := oshost.New(oshost.Config{Name: cfg.Name, Device: dev, Listen: cfg.Listen, Logf: cfg.Logf})
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	// The exit of the process releases the resources of NCL's peer on the device.
	h.Go("ncl", func() {
		if err := ncl.ServePeer(h, ncl.PeerConfig{Memory: NCLMemory}); ctx.Err() == nil {
			h.Logf("%v", err)
		}
	})
	stop := context.AfterFunc(ctx, func() { _ = h.Close() })
	defer stop()
	if cfg.Pin {
		if err := Pin(true); err != nil {
			return errors.Join(err, h.Close())
		}
	}
	cfg.Ready(h.Addr())
	if err := Serve(ctx, h); ctx.Err() == nil {
		return err
	}
	return nil
}
