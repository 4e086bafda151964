package splitfs

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Presets are the patterns of some programs' log files.
var Presets = map[string][]string{
	"sqlite":  {"*-wal"},
	"redis":   {"appendonly.aof", "*.incr.aof", "temp-*.incr"},
	"rocksdb": {"*.log"},
	"pebble":  {"*.log"},
	"leveldb": {"*.log"},
}

// PresetNames returns the names in [Presets], in order.
func PresetNames() []string {
	return slices.Sorted(maps.Keys(Presets))
}

// matches reports whether a new file of this name goes to the store.
func (c *Config) matches(name string) bool {
	return slices.ContainsFunc(c.Patterns, func(p string) bool {
		what := path.Base(name)
		if strings.Contains(p, "/") {
			what = name
		}
		ok, _ := path.Match(p, what) // Validate has tried the pattern
		return ok
	})
}
