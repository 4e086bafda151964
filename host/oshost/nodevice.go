package oshost

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrNoDevice: an operation needs a device, and the host has none.
var ErrNoDevice = errors.New("oshost: the host has no device: set Config.Device")

// noDevice stands in for the missing device of a host: all its methods fail.
type noDevice struct{}

func (noDevice) Attr() verbs.DeviceAttr                            { return verbs.DeviceAttr{Name: "none"} }
func (noDevice) AllocPD() (verbs.PD, error)                        { return nil, errNoDevice() }
func (noDevice) CreateCQ(int, verbs.CompChannel) (verbs.CQ, error) { return nil, errNoDevice() }
func (noDevice) CreateCompChannel() (verbs.CompChannel, error)     { return nil, errNoDevice() }
func (noDevice) Close() error                                      { return errNoDevice() }

func errNoDevice() error { return fmt.Errorf("%w: %w", verbs.ErrUnsupported, ErrNoDevice) }
