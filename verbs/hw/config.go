package hw

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrConfig: a setting exceeds its limits.
var ErrConfig = errors.New("hw: bad configuration")

// GIDType is the kind of address of a port (ibv_gid_type).
type GIDType uint8

// The kinds of addresses. AnyGID chooses the first RoCE v2, InfiniBand or RoCE v1
// address, in this order.
const (
	AnyGID GIDType = iota
	RoCEv2
	IB
	RoCEv1
)

var gidTypeNames = [...]string{"any", "RoCE v2", "IB", "RoCE v1"}

func (t GIDType) String() string {
	if int(t) < len(gidTypeNames) {
		return gidTypeNames[t]
	}
	return fmt.Sprintf("GIDType(%d)", uint8(t))
}

// Defaults of Config.
const (
	DefaultTimeout     = 14 // 67 ms
	DefaultMinRNRTimer = 12 // 0.64 ms
	DefaultHopLimit    = 64
	DefaultMaxInline   = 256
	DefaultSpin        = 20 * time.Microsecond
)

// NoSpin as Config.Spin makes every wait sleep at once.
const NoSpin time.Duration = -1

// Config selects a card and configures its connections. Zero fields take the defaults.
type Config struct {
	// Device is the name, such as mlx5_0. Default: the only device.
	Device string
	// Port counts from 1. Default 1.
	Port int
	// GIDType and GID choose the port's address: the first of this type that is
	// not link-local, or exactly this one, such as ::ffff:192.0.2.1 or 192.0.2.1.
	GIDType GIDType
	GID     string
	// PKeyIndex is the index of the partition key in the port's table.
	PKeyIndex int
	// RelaxedOrdering lets the card and the bus write to registered memory out of order
	// (IBV_ACCESS_RELAXED_ORDERING), as profile relaxed allows. A card or kernel without
	// this option ignores it.
	RelaxedOrdering bool
	// MTU of the path in bytes: 256, 512, 1024, 2048 or 4096. Default: the port's. Two
	// ends use the smaller one.
	MTU int
	// Timeout of an acknowledgement is 4.096 µs times 2 to this power, up to 31.
	Timeout int
	// MinRNRTimer is the code of the time to wait when a receive is missing, 1 to 31.
	MinRNRTimer int
	// ServiceLevel, TrafficClass and HopLimit are fields of the packets.
	ServiceLevel, TrafficClass, HopLimit int
	// MaxInline is the largest number of inline bytes that a queue pair may request, if
	// the card supports it.
	MaxInline int
	// Spin is how long a wait polls before it sleeps, or [NoSpin].
	Spin time.Duration
	// OnEvent is called for asynchronous events: a port that goes down, a queue pair's
	// own error, a fatal one. It must not block. May be nil.
	OnEvent func(Event)
}

// Event is an asynchronous event of a card.
type Event struct {
	Device string
	About  Object
	Number uint32 // of the object: the Num of a QP, the number of a port, the handle of a CQ
	Text   string // as libibverbs names it
	// Fatal: the device no longer works.
	Fatal bool
}

// Object is the kind of object that an event concerns.
type Object uint8

// The objects.
const (
	AboutDevice Object = iota
	AboutQP
	AboutCQ
	AboutPort
)

var objectNames = [...]string{AboutQP: "QP", AboutCQ: "CQ", AboutPort: "port"}

func (e Event) String() string {
	if e.About == AboutDevice || int(e.About) >= len(objectNames) {
		return e.Device + ": " + e.Text
	}
	return fmt.Sprintf("%s: %s %d: %s", e.Device, objectNames[e.About], e.Number, e.Text)
}

// Validate checks c. Its error wraps [ErrConfig] and names the field.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name     string
		v, least int
		most     int
	}{
		{"Port", c.Port, 0, 255}, {"GIDType", int(c.GIDType), 0, int(RoCEv1)}, {"Timeout", c.Timeout, 0, 31},
		{"MinRNRTimer", c.MinRNRTimer, 0, 31}, {"ServiceLevel", c.ServiceLevel, 0, 15},
		{"TrafficClass", c.TrafficClass, 0, 255}, {"HopLimit", c.HopLimit, 0, 255}, {"PKeyIndex", c.PKeyIndex, 0, 1<<16 - 1}, {"MaxInline", c.MaxInline, 0, 1 << 12},
	} {
		if f.v < f.least || f.v > f.most {
			return fmt.Errorf("%w: %s is %d; it must be %d to %d", ErrConfig, f.name, f.v, f.least, f.most)
		}
	}
	if c.MTU != 0 && mtuCode(c.MTU) == 0 {
		return fmt.Errorf("%w: MTU is %d; it must be one of %v", ErrConfig, c.MTU, mtus)
	}
	if c.Spin < NoSpin {
		return fmt.Errorf("%w: Spin is %v; it must not be negative, or NoSpin", ErrConfig, c.Spin)
	}
	if _, err := parseGID(c.GID); err != nil {
		return err
	}
	return nil
}

// complete returns c with its defaults filled in.
func (c Config) complete() Config {
	orDefault(&c.Port, 1)
	orDefault(&c.Timeout, DefaultTimeout)
	orDefault(&c.MinRNRTimer, DefaultMinRNRTimer)
	orDefault(&c.HopLimit, DefaultHopLimit)
	orDefault(&c.MaxInline, DefaultMaxInline)
	if c.Spin == 0 {
		c.Spin = DefaultSpin
	}
	return c
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

// mtus are the path MTUs; the code of mtus[i] in libibverbs is i+1.
var mtus = []int{256, 512, 1024, 2048, 4096}

// mtuCode returns the ibv_mtu of n bytes, or 0.
func mtuCode(n int) int { return slices.Index(mtus, n) + 1 }

func mtuBytes(code int) int {
	if code < 1 || code > len(mtus) {
		return 0
	}
	return mtus[code-1]
}

// parseGID parses an address. IPv4 is mapped into IPv6, as in RoCE v2. The empty string
// is the zero GID.
func parseGID(s string) ([16]byte, error) {
	if s == "" {
		return [16]byte{}, nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return [16]byte{}, fmt.Errorf("%w: GID %q is not an address: want a form such as 2001:db8::1, ::ffff:192.0.2.1 or 192.0.2.1", ErrConfig, s)
	}
	return a.As16(), nil
}

// gidEntry is an address of a port.
type gidEntry struct {
	gid   [16]byte
	typ   GIDType
	index int
	port  int
}

func (e gidEntry) String() string {
	return fmt.Sprintf("%v (%v, index %d)", netip.AddrFrom16(e.gid), e.typ, e.index)
}

// pickGID chooses among the addresses of all ports. The error lists those of the port.
func (c *Config) pickGID(table []gidEntry) (gidEntry, error) {
	want, err := parseGID(c.GID)
	if err != nil {
		return gidEntry{}, err
	}
	const most = 255 // ibv_global_route has eight bits for an index
	table = slices.DeleteFunc(slices.Clone(table), func(e gidEntry) bool { return e.port != c.Port || e.index > most })
	order := []GIDType{c.GIDType}
	if c.GIDType == AnyGID {
		order = []GIDType{RoCEv2, IB, RoCEv1}
	}
	for _, linkLocal := range []bool{false, true} { // link-local addresses reach only neighbours on the same link
		for _, typ := range order {
			for _, e := range table {
				fits := c.GID == "" && netip.AddrFrom16(e.gid).IsLinkLocalUnicast() == linkLocal || c.GID != "" && e.gid == want
				if e.typ == typ && fits {
					return e, nil
				}
			}
		}
	}
	asked := "type " + c.GIDType.String()
	if c.GID != "" {
		asked = "GID " + c.GID + " of " + asked
	}
	return gidEntry{}, fmt.Errorf("%w: port %d has no %s; it has %v", ErrConfig, c.Port, asked, table)
}

// checkQP is verbs.QPConfig.Resolve for a card. By default it asks for at most 128 Reads and Atomics
// outstanding.
func checkQP(cfg verbs.QPConfig, attr *verbs.DeviceAttr) (verbs.QPConfig, error) {
	orDefault(&cfg.MaxRdAtomic, min(attr.MaxRdAtomic, 128))
	cfg, err := cfg.Resolve(attr)
	if err != nil {
		err = fmt.Errorf("hw: %s: create QP: %w", attr.Name, err)
	}
	return cfg, err
}

// checkEndpoint checks a peer's endpoint.
func checkEndpoint(e verbs.Endpoint, roce bool) error {
	if err := e.Check(verbs.MinMTU); err != nil {
		return fmt.Errorf("the peer: %w", err)
	}
	switch {
	case roce && e.GID == [16]byte{}:
		return fmt.Errorf("%w: the peer has no GID, and RoCE needs one", verbs.ErrInvalid)
	case !roce && e.LID == 0 && e.GID == [16]byte{}:
		return fmt.Errorf("%w: the peer has neither LID nor GID", verbs.ErrInvalid)
	}
	return nil
}
