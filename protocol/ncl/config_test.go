package ncl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
)

// What is just within the limits is taken, and what is just outside is not.
func TestLimits(t *testing.T) {
	var c struct{ coord.Client }
	peers := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprint("p", i))
		}
		return out
	}
	long := strings.Repeat("n", MaxName)
	for what, change := range map[string]struct {
		set func(*Config)
		ok  bool
	}{
		"nothing":                 {func(*Config) {}, true},
		"no application":          {func(c *Config) { c.App = "" }, false},
		"the longest name":        {func(c *Config) { c.App = long }, true},
		"a longer name":           {func(c *Config) { c.App = long + "n" }, false},
		"a slash":                 {func(c *Config) { c.App = "a/b" }, false},
		"no controller":           {func(c *Config) { c.Coord = nil }, false},
		"f of -1":                 {func(c *Config) { c.F = -1 }, false},
		"f of 0":                  {func(c *Config) { c.F = 0 }, true},
		"the largest f":           {func(c *Config) { c.F = MaxF }, true},
		"a larger f":              {func(c *Config) { c.F = MaxF + 1 }, false},
		"a queue of -1":           {func(c *Config) { c.QueueDepth = -1 }, false},
		"a queue of 1":            {func(c *Config) { c.QueueDepth = 1 }, false},
		"a queue of 2":            {func(c *Config) { c.QueueDepth = 2 }, true},
		"2f+1 peers":              {func(c *Config) { c.Peers = peers(3) }, true},
		"2f peers":                {func(c *Config) { c.Peers = peers(2) }, false},
		"a peer without a name":   {func(c *Config) { c.Peers = append(peers(3), "") }, false},
		"a peer with a slash":     {func(c *Config) { c.Peers = append(peers(3), "p/q") }, false},
		"a peer of a long name":   {func(c *Config) { c.Peers = append(peers(3), long+"n") }, false},
		"a peer that comes again": {func(c *Config) { c.Peers = append(peers(3), "p1") }, false},
	} {
		cfg := Config{App: "app", F: 1, Coord: c}
		change.set(&cfg)
		if err := cfg.Validate(); (err == nil) != change.ok || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, x := range []struct {
		cfg PeerConfig
		ok  bool
	}{
		{PeerConfig{Memory: stampSize}, false},
		{PeerConfig{Memory: stampSize + 1}, true},
		{PeerConfig{Memory: 100, CollectEvery: -1}, false},
		{PeerConfig{Memory: 100, CollectEvery: 1}, false},
		{PeerConfig{Memory: 100, CollectEvery: 1, Coord: c}, true},
	} {
		if err := x.cfg.Validate(); (err == nil) != x.ok || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", x.cfg, err)
		}
	}
	for size, ok := range map[int]bool{-1: false, 0: false, 1: true, MaxSize: true, MaxSize + 1: false} {
		if validSize(size) != ok {
			t.Errorf("a file of %d bytes is valid: %v", size, !ok)
		}
	}
	for name, ok := range map[string]bool{"": false, "f": true, long: true, long + "n": false} {
		if _, err := (Config{App: "app", F: 1, Coord: c}).complete(name); (err == nil) != ok {
			t.Errorf("a file of a name of %d bytes: %v", len(name), err)
		}
	}
}
