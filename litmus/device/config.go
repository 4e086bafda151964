package device

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrConfig: a setting is outside its limits.
var ErrConfig = errors.New("device: bad configuration")

// Defaults of Config.
const (
	DefaultProfile  = "rxe"
	DefaultRuns     = 1000
	DefaultPatience = 2 * time.Second
)

// Config says on what to run tests, and how often. A field that is zero has its
// default.
type Config struct {
	// Devices are the cards: host number i of a test has number i, and begins
	// again with the first one if there are not enough.
	Devices []verbs.Device
	// Profile is what the cards are held against. Default [DefaultProfile].
	Profile string
	// Runs is how often each test runs. Default [DefaultRuns].
	Runs int
	// MaxTime ends the runs of a test early. 0: no limit.
	MaxTime time.Duration
	// Seed is what all delays follow from. A card is free all the same, so that
	// the same seed makes a thing likely to be seen again, and not certain.
	Seed uint64
	// Patience is how long nothing must happen until a thread counts as blocked;
	// it must be longer than a card takes to give a peer up. Default [DefaultPatience].
	Patience time.Duration
	// Links can cut the network between two of the Devices. nil: tests that cut
	// are skipped.
	Links Links
	// Known are differences from the profile that are none of its errors.
	Known []Known
	// Stop, if set, is asked before each run whether to stop.
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
	case c.Runs < 0:
		return fmt.Errorf("%w: Runs is %d, and must not be negative", ErrConfig, c.Runs)
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
	if c.Patience == 0 {
		c.Patience = DefaultPatience
	}
	return c
}
