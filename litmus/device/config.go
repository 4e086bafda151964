package device

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrConfig: a setting exceeds its limits.
var ErrConfig = errors.New("device: bad configuration")

// Defaults of Config.
const (
	DefaultProfile  = "rxe"
	DefaultRuns     = 1000
	DefaultLeast    = 10
	DefaultPatience = 2 * time.Second
)

// Config configures a rig: the cards, and the number of runs. Zero fields take the
// defaults.
type Config struct {
	// Devices are the cards: host i of a test gets card i, modulo the number of cards.
	Devices []verbs.Device
	// Profile is the profile to compare the cards with. Default [DefaultProfile].
	Profile string
	// Runs is how often each test runs. Default [DefaultRuns].
	Runs int
	// Least is how many runs each test gets first when tests share a time. Default
	// [DefaultLeast].
	Least int
	// MaxTime limits the time for a test. 0: no limit.
	MaxTime time.Duration
	// Seed determines all delays. A card is still nondeterministic, so the same seed
	// makes a result likely to recur, not certain.
	Seed uint64
	// Patience is how long nothing must happen before a thread counts as blocked; it
	// must exceed the time in which a card gives up on a peer. Default
	// [DefaultPatience].
	Patience time.Duration
	// Links can cut the network between two of the Devices. nil: tests that cut are
	// skipped.
	Links Links
	// Known are differences from the profile that are not errors of the profile.
	Known []Known
	// Stop, if set, is called before each run; the test stops if it returns true.
	Stop func() bool
}

// Links is a network whose links can be cut.
type Links interface {
	Cut(a, b int) error
	Heal(a, b int) error
}

// Validate checks c. Its error wraps [ErrConfig] and names the field.
func (c *Config) Validate() error {
	switch {
	case len(c.Devices) == 0:
		return fmt.Errorf("%w: Devices is empty, and must name a card", ErrConfig)
	case c.Runs < 0 || c.Least < 0:
		return fmt.Errorf("%w: Runs is %d and Least %d, and neither can be negative", ErrConfig, c.Runs, c.Least)
	case c.MaxTime < 0 || c.Patience < 0:
		return fmt.Errorf("%w: MaxTime is %v and Patience %v, and neither can be negative", ErrConfig, c.MaxTime, c.Patience)
	}
	if c.Profile == "" {
		return nil
	}
	if _, err := faults.ProfileByName(c.Profile); err != nil {
		return fmt.Errorf("%w: Profile: %w", ErrConfig, err)
	}
	return nil
}

// complete returns c with its defaults filled in.
func (c Config) complete() Config {
	if c.Profile == "" {
		c.Profile = DefaultProfile
	}
	if c.Runs == 0 {
		c.Runs = DefaultRuns
	}
	if c.Least == 0 {
		c.Least = DefaultLeast
	}
	if c.Patience == 0 {
		c.Patience = DefaultPatience
	}
	return c
}
