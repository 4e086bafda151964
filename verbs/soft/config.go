package soft

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// ErrConfig: a setting is outside its limits.
var ErrConfig = errors.New("soft: bad configuration")

// Name is the default name of a device, and its name in the commands.
const Name = "soft"

// Profile is the profile of a device, in the terms of package faults. Beyond the
// specification, a device places in order, drains when access is revoked, and uses CPU
// instructions for atomics.
const Profile = "strong+AtomicGlob=true"

// Defaults of Config.
const (
	DefaultListen   = "127.0.0.1:0"
	DefaultTimeout  = 250 * time.Millisecond
	DefaultRNRTimer = 2 * time.Millisecond
	DefaultMaxConns = 4096
)

// Config configures a device. Zero fields have their defaults.
type Config struct {
	// Name of the device. Default [Name].
	Name string
	// Listen is the address at which others reach the device: an IP address of this
	// machine, not a wildcard, and a port; port 0 takes a free one. Default: the
	// loopback, which is reachable only from this machine.
	Listen string
	// Timeout times RetryCount+1 is how long a peer may stay silent before a queue
	// pair gives up. The death of a process is detected at once, because it closes the connections.
	Timeout time.Duration
	// RNRTimer is the time between retries when no receive is posted.
	RNRTimer time.Duration
	// MaxConns is the largest number of incoming connections.
	MaxConns int
}

// Validate checks c. Its error wraps [ErrConfig] and names the field.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name    string
		v, most time.Duration
	}{{"Timeout", c.Timeout, time.Hour}, {"RNRTimer", c.RNRTimer, time.Minute}} {
		if f.v < 0 || f.v > f.most {
			return fmt.Errorf("%w: %s is %v; it must be 0 (default) to %v", ErrConfig, f.name, f.v, f.most)
		}
	}
	if c.MaxConns < 0 || c.MaxConns > 1<<20 {
		return fmt.Errorf("%w: MaxConns is %d; it must be 0 (default) to %d", ErrConfig, c.MaxConns, 1<<20)
	}
	_, err := c.address()
	return err
}

// address is Listen, which peers must be able to dial.
func (c *Config) address() (netip.AddrPort, error) {
	text := c.Listen
	if text == "" {
		text = DefaultListen
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil || at.Addr().Zone() != "" || at.Addr().IsUnspecified() {
		return at, fmt.Errorf("%w: Listen %q: want an IP address of this machine that peers can reach, and a port, such as 192.0.2.1:0", ErrConfig, text)
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}

// complete returns c with its defaults filled in.
func (c Config) complete() Config {
	orDefault(&c.Name, Name)
	orDefault(&c.Timeout, DefaultTimeout)
	orDefault(&c.RNRTimer, DefaultRNRTimer)
	orDefault(&c.MaxConns, DefaultMaxConns)
	return c
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
