package sift

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestConfigurationsOutsideTheLimitsAreErrors(t *testing.T) {
	tests := map[string]func(c *Config){
		"no memory":              func(c *Config) { c.Size = 0 },
		"half a word":            func(c *Config) { c.Direct = 4 },
		"too much memory":        func(c *Config) { c.Size = MaxSize + 8 },
		"blocks that do not fit": func(c *Config) { c.Block = 24 },
		"no block":               func(c *Config) { c.Block = 0 },
		"entries without room":   func(c *Config) { c.Entry = 8 },
		"one slot":               func(c *Config) { c.Slots = 1 },
		"too many slots":         func(c *Config) { c.Slots = MaxSize },
		"no node":                func(c *Config) { c.Node = 0 },
		"the outsider":           func(c *Config) { c.Node = MaxNode + 1 },
		"an even number":         func(c *Config) { c.Memory = c.Memory[:2] },
		"nobody":                 func(c *Config) { c.Memory = nil },
		"twice the same":         func(c *Config) { c.Memory = []string{"a", "b", "a"} },
		"a name of no bytes":     func(c *Config) { c.Memory = []string{"", "b", "a"} },
		"no period":              func(c *Config) { c.Period = 0 },
		"none missed":            func(c *Config) { c.Missed = 0 },
		"no back-off":            func(c *Config) { c.BackOff = 0 },
		"no timeout":             func(c *Config) { c.CallTimeout = 0 },
		"a lease too long":       func(c *Config) { c.Lease = 2 * time.Millisecond },
		"a back-off too long":    func(c *Config) { c.BackOff = math.MaxInt64/4 + 1 },
		"a lease a bit longer":   func(c *Config) { c.Lease = time.Duration(c.Missed)*c.Period + 1 },
		"a lease before it":      func(c *Config) { c.Lease = -1 },
		"a short queue":          func(c *Config) { c.QueueDepth = 3 },
	}
	good, patient := config(), config()
	patient.Missed, patient.Lease = math.MaxInt, 1 // the product overflows
	if err := errors.Join(good.Validate(), patient.Validate()); err != nil {
		t.Fatal(err)
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			c := config()
			if change(&c); !errors.Is(c.Validate(), ErrConfig) {
				t.Errorf("got %v", c.Validate())
			}
		})
	}
}

func TestMemoryNodesRefuseBadConfigurations(t *testing.T) {
	if err := ServeMemory(nil, MemoryConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
