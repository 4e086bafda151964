package sift

import (
	"errors"
	"fmt"
	"math"
	"strings"
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

// The limits themselves are allowed, and nothing beyond them.
func TestTheLimitsOfConfigurations(t *testing.T) {
	names := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint("mem", i))
		}
		return out
	}
	for name, x := range map[string]struct{ good, bad func(c *Config) }{
		"memory":       {func(c *Config) { c.Size = MaxSize }, func(c *Config) { c.Size = MaxSize + 8 }},
		"direct zone":  {func(c *Config) { c.Direct = MaxSize }, func(c *Config) { c.Direct = MaxSize + 8 }},
		"no zone":      {func(c *Config) { c.Direct = 0 }, func(c *Config) { c.Direct = -8 }},
		"block":        {func(c *Config) { c.Block = c.Size }, func(c *Config) { c.Block = 2 * c.Size }},
		"entry":        {func(c *Config) { c.Entry = 16 }, func(c *Config) { c.Entry = 12 }},
		"few slots":    {func(c *Config) { c.Slots = 2 }, func(c *Config) { c.Slots = 1 }},
		"many slots":   {func(c *Config) { c.Slots = MaxSize / c.shape().SlotSize() }, func(c *Config) { c.Slots = MaxSize/c.shape().SlotSize() + 1 }},
		"chunks":       {func(c *Config) { *c = coded(1) }, func(c *Config) { *c = coded(1); c.Chunks = 1 }},
		"many chunks":  {func(c *Config) { *c = coded(MaxF) }, func(c *Config) { *c = coded(MaxF + 1) }},
		"chunk":        {func(c *Config) { *c = coded(1); c.Block = 16 }, func(c *Config) { *c = coded(1); c.Block = 8 }},
		"coded entry":  {func(c *Config) { *c = coded(1); c.Entry = c.Block + 8 }, func(c *Config) { *c = coded(1); c.Entry = c.Block }},
		"node":         {func(c *Config) { c.Node = MaxNode }, func(c *Config) { c.Node = MaxNode + 1 }},
		"memory nodes": {func(c *Config) { c.Memory = names(2*MaxF + 1) }, func(c *Config) { c.Memory = names(2*MaxF + 3) }},
		"one node":     {func(c *Config) { c.Memory = names(1) }, func(c *Config) { c.Memory = names(0) }},
		"name":         {func(c *Config) { c.Memory[1] = strings.Repeat("m", MaxName) }, func(c *Config) { c.Memory[1] = strings.Repeat("m", MaxName+1) }},
		"missed":       {func(c *Config) { c.Missed = 1 }, func(c *Config) { c.Missed = 0 }},
		"period":       {func(c *Config) { c.Period = 1 }, func(c *Config) { c.Period = -1 }},
		"back-off":     {func(c *Config) { c.BackOff = math.MaxInt64 / backOffs }, func(c *Config) { c.BackOff = -1 }},
		"timeout":      {func(c *Config) { c.CallTimeout = -1 }, func(c *Config) { c.CallTimeout = 0 }},
		"lease":        {func(c *Config) { c.Lease = time.Duration(c.Missed)*c.Period - 1 }, func(c *Config) { c.Lease = time.Duration(c.Missed) * c.Period }},
		"queue":        {func(c *Config) { c.QueueDepth = 4 }, func(c *Config) { c.QueueDepth = 1 }},
	} {
		good, bad := config(), config()
		x.good(&good)
		x.bad(&bad)
		if err := good.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := bad.Validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%s, beyond the limit: %v", name, err)
		}
	}
	beyond := coded(MaxF + 1) // a memory node has the layout only
	if err := beyond.Layout.Validate(); !errors.Is(err, ErrConfig) {
		t.Errorf("a layout with %d chunks: %v", beyond.Chunks, err)
	}
}

func TestMemoryNodesRefuseBadConfigurations(t *testing.T) {
	if err := ServeMemory(nil, MemoryConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
