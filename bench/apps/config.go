package apps

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/ycsb"
)

// ErrConfig: a setting exceeds its limits.
var ErrConfig = errors.New("apps: bad configuration")

// The applications.
const (
	Writes = "writes"
	Pebble = "pebble"
	SQLite = "sqlite"
)

// Apps are all of them.
var Apps = []string{Writes, Pebble, SQLite}

// Limits.
const (
	MaxSize    = 1 << 20
	MaxRecords = 10_000_000
	MaxOps     = 1_000_000
	MaxRounds  = 1000
)

// Config configures a measurement. Zero fields take the defaults.
type Config struct {
	// Config has the backend, cards and peers, and Progress. Other fields are unused.
	bench.Config
	// Dir is the directory for all data that is not on the peers. Run creates a folder in
	// it, and removes the folder. Default: the system's directory for temporary files,
	// which may be in memory.
	Dir string
	// Apps, default all, Sizes of writes in bytes, default 128 to 8192, and Workloads
	// of YCSB, default A to F.
	Apps, Workloads []string
	Sizes           []int
	// Records are loaded before a database is measured, Ops is the number of operations
	// of each mode in a round, and Rounds the number of rounds. Default 1000, 200 and
	// 10.
	Records, Ops, Rounds int
	// Seed fixes the operations.
	Seed uint64
}

// complete returns c with its defaults filled in, if it is valid.
func (c Config) complete() (Config, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	c.Backend = cmp.Or(c.Backend, bench.Sim)
	c.Dir = cmp.Or(c.Dir, os.TempDir())
	if len(c.Apps) == 0 {
		c.Apps = Apps
	}
	if len(c.Workloads) == 0 {
		c.Workloads = ycsb.Names()
	}
	if len(c.Sizes) == 0 {
		c.Sizes = []int{128, 512, 1024, 2048, 4096, 8192}
	}
	for _, x := range []struct {
		v *int
		d int
	}{{&c.Records, 1000}, {&c.Ops, 200}, {&c.Rounds, 10}} {
		if *x.v == 0 {
			*x.v = x.d
		}
	}
	return c, nil
}

// Validate checks c. Its error wraps [ErrConfig], or bench.ErrConfig.
func (c *Config) Validate() error {
	for _, a := range c.Apps {
		if !slices.Contains(Apps, a) {
			return fmt.Errorf("%w: unknown application %q; want one of %v", ErrConfig, a, Apps)
		}
	}
	for _, w := range c.Workloads {
		if _, ok := ycsb.ByName(w); !ok {
			return fmt.Errorf("%w: unknown workload %q; want one of %v", ErrConfig, w, ycsb.Names())
		}
	}
	for _, n := range c.Sizes {
		if err := within("size", n, 1, MaxSize); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		what    string
		v, most int
	}{{"records", c.Records, MaxRecords}, {"operations", c.Ops, MaxOps}, {"rounds", c.Rounds, MaxRounds}} {
		if x.v != 0 {
			if err := within(x.what, x.v, 1, x.most); err != nil {
				return err
			}
		}
	}
	if c.Dir != "" {
		if st, err := os.Stat(c.Dir); err != nil || !st.IsDir() {
			return fmt.Errorf("%w: %s does not exist, or is not a directory (%v)", ErrConfig, c.Dir, err)
		}
	}
	return c.Config.Validate()
}

func within(what string, v, least, most int) error {
	if v < least || v > most {
		return fmt.Errorf("%w: %s is %d; it must be %d to %d", ErrConfig, what, v, least, most)
	}
	return nil
}

func (c *Config) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}
