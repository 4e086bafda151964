package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// cardFlags select the card, and configure its connections.
type cardFlags struct {
	cfg        hw.Config
	ackTimeout time.Duration
}

// defaultAck is for cards; a software device needs more time on a busy machine.
const defaultAck = 67 * time.Millisecond

func (f *cardFlags) define(fl *pflag.FlagSet) {
	fl.StringVar(&f.cfg.Device, "device", "", "the card, such as mlx5_0 or rxe0, or soft for a software device over TCP; default: the only card, or soft if there is none")
	fl.IntVar(&f.cfg.Port, "device-port", 1, "port of the card; they count from 1")
	fl.StringVar(&f.cfg.GID, "gid", "", "`address` of the port, such as 10.7.7.1; default: the first of RoCE v2, else of InfiniBand; for soft, that of --listen, or the loopback")
	fl.IntVar(&f.cfg.PKeyIndex, "pkey-index", 0, "`index` of the partition key in the port's table")
	fl.BoolVar(&f.cfg.RelaxedOrdering, "relaxed-ordering", false, "relaxed ordering of writes to registered memory; profile relaxed lists the remaining guarantees")
	fl.IntVar(&f.cfg.MTU, "mtu", 0, "`bytes` of a packet, a power of two from 256 to 4096; default: the port's")
	fl.DurationVar(&f.ackTimeout, "ack-timeout", defaultAck, "resend requests that are not acknowledged within this time; they fail after 7 retries")
	fl.SortFlags = false
}

// complete turns the timeout into the card's: 4.096 µs times a power of two.
func (f *cardFlags) complete() (hw.Config, error) {
	const unit = 4.096e3 // nanoseconds
	n := int(math.Ceil(math.Log2(float64(f.ackTimeout) / unit)))
	if f.ackTimeout < 10*time.Microsecond || n > 31 {
		return f.cfg, fmt.Errorf("--ack-timeout %v: want 10µs to 2h20m; a card takes the next power of two times 4.096µs", f.ackTimeout)
	}
	f.cfg.Timeout = n
	return f.cfg, f.cfg.Validate()
}

// open opens the card, or a software device if it was requested or there is no card. listen
// is the address at which the process accepts calls.
func (f *cardFlags) open(listen string, logf func(format string, args ...any)) (verbs.Device, error) {
	cfg, err := f.complete()
	if err != nil {
		return nil, err
	}
	if cfg.Device == "" {
		if why := noCard(); why != "" {
			logf("%s: taking --device %s, which is verbs over TCP, for testing (docs/hardware.md)", why, soft.Name)
			cfg.Device = soft.Name
		}
	}
	if cfg.Device == soft.Name {
		return f.openSoft(listen)
	}
	cfg.OnEvent = func(e hw.Event) { logf("the card reports: %v", e) }
	d, err := hw.Open(cfg)
	if err != nil {
		return nil, deviceError(cfg.Device, err)
	}
	return d, nil
}

// noCard returns the reason why there is no card. It is empty if there is a card, even a broken one.
func noCard() string {
	names, err := hw.Devices()
	switch {
	case errors.Is(err, hw.ErrNotBuilt):
		return "this program was built without the tag rdma, so it opens no card"
	case err == nil && len(names) == 0:
		return "this machine has no card"
	}
	return ""
}

func (f *cardFlags) openSoft(listen string) (verbs.Device, error) {
	if f.cfg.MTU != 0 || f.cfg.Port != 1 || f.cfg.PKeyIndex != 0 || f.cfg.RelaxedOrdering {
		return nil, fmt.Errorf("--mtu, --device-port, --pkey-index and --relaxed-ordering apply to cards only, not to --device %s", soft.Name)
	}
	cfg := soft.Config{Listen: net.JoinHostPort(softAddress(f.cfg.GID, listen), "0")}
	if f.ackTimeout != defaultAck {
		cfg.Timeout = f.ackTimeout
	}
	return soft.Open(cfg)
}

// softAddress returns the address at which a software device listens: the address of --gid, or else
// the address at which the process accepts calls, if it is a single address. A writer accepts no
// calls, so the loopback suffices for it.
func softAddress(gid, listen string) string {
	if gid != "" {
		return gid
	}
	at, _, _ := net.SplitHostPort(listen)
	if a, err := netip.ParseAddr(at); err == nil && !a.IsUnspecified() && a.Zone() == "" {
		return at
	}
	return "127.0.0.1"
}

// deviceError adds the name of the flag to an error about the choice of the device.
func deviceError(name string, err error) error {
	if errors.Is(err, hw.ErrNoDevice) {
		if name == "" {
			return fmt.Errorf("%w; name one with --device", err)
		}
		return fmt.Errorf("--device: %w", err)
	}
	return err
}

// softDevices is the number of devices that `--device soft` provides if several hosts share one
// process: the largest number of hosts of a litmus test.
const softDevices = 4

// cards returns the names of the devices to use, all if none is named.
func cards(names []string, stderr io.Writer) ([]string, error) {
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if why := noCard(); len(names) == 0 && why != "" {
		fmt.Fprintf(stderr, "verbatim-run: %s: taking --device %s, which is verbs over TCP (docs/hardware.md)\n", why, soft.Name)
		return []string{soft.Name}, nil
	}
	if len(names) > 0 {
		return names, nil
	}
	return hw.Devices()
}

// openDevices opens the cards of these names, or all.
func openDevices(names []string, stderr io.Writer) ([]verbs.Device, error) {
	names, err := cards(names, stderr)
	if err != nil {
		return nil, err
	}
	if len(names) == 1 && names[0] == soft.Name {
		names = slices.Repeat(names, softDevices)
	}
	var out []verbs.Device
	for _, name := range names {
		d, err := openDevice(name)
		if err != nil {
			for _, o := range out {
				_ = o.Close() // the first error counts
			}
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func openDevice(name string) (verbs.Device, error) {
	if name == soft.Name {
		return soft.Open(soft.Config{})
	}
	return hw.Open(hw.Config{Device: name})
}

// allSoft reports whether no card is among the devices.
func allSoft(devices []verbs.Device) bool {
	return !slices.ContainsFunc(devices, func(d verbs.Device) bool { return d.Attr().Name != soft.Name })
}

// thereAre reports unknown names of devices before anything is started.
func thereAre(devices []string) error {
	var there []string
	for _, d := range devices {
		if d == soft.Name {
			continue
		}
		if there == nil {
			var err error
			if there, err = hw.Devices(); err != nil {
				return err
			}
		}
		if !slices.Contains(there, d) {
			return fmt.Errorf("--devices: %w: %s; there are: %s", hw.ErrNoDevice, d, cli.List(append(there, soft.Name)))
		}
	}
	return nil
}
