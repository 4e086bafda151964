package splitfscheck

import (
	"errors"
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// limiting tries the limits of a configuration.
func limiting(r *run) {
	r.configurations()
	r.sizes()
	r.defaults()
	r.presets()
}

// configurations are valid and invalid ones.
func (r *run) configurations() {
	for _, x := range []struct {
		what string
		ok   bool
		set  func(c *splitfs.Config)
	}{
		{"no change", true, func(*splitfs.Config) {}},
		{"no directory", false, func(c *splitfs.Config) { c.Dir = nil }},
		{"no store", false, func(c *splitfs.Config) { c.Store = nil }},
		{"no patterns", true, func(c *splitfs.Config) { c.Patterns = nil }},
		{"a malformed pattern", false, func(c *splitfs.Config) { c.Patterns = []string{"*.log", "[a"} }},
		{"an empty pattern", false, func(c *splitfs.Config) { c.Patterns = []string{""} }},
		{"the smallest region", true, func(c *splitfs.Config) { c.Region, c.MaxRegion = splitfs.MinRegion, splitfs.MinRegion }},
		{"a smaller region", false, func(c *splitfs.Config) { c.Region, c.MaxRegion = splitfs.MinRegion-1, splitfs.MinRegion }},
		{"a negative region", false, func(c *splitfs.Config) { c.Region = -1 }},
		{"a largest region below the first", false, func(c *splitfs.Config) { c.Region, c.MaxRegion = 2048, 2047 }},
		{"the largest region", true, func(c *splitfs.Config) { c.Region, c.MaxRegion = 2048, splitfs.LargestRegion }},
		{"a larger region", false, func(c *splitfs.Config) { c.Region, c.MaxRegion = 2048, splitfs.LargestRegion+1 }},
		{"no sizes of regions", true, func(c *splitfs.Config) { c.Region, c.MaxRegion = 0, 0 }},
		{"a region whose 64-fold size is too large", true, func(c *splitfs.Config) { c.Region, c.MaxRegion = 1<<29, 0 }},
		{"only a largest region", true, func(c *splitfs.Config) { c.Region, c.MaxRegion = 0, 2048 }},
		{"only a largest region, which is too small", false, func(c *splitfs.Config) { c.Region, c.MaxRegion = 0, 1023 }},
		{"a negative largest region", false, func(c *splitfs.Config) { c.Region, c.MaxRegion = 0, -1 }},
	} {
		cfg := r.config()
		x.set(&cfg)
		err := cfg.Validate()
		r.that((err == nil) == x.ok && (err == nil || errors.Is(err, splitfs.ErrConfig)), "%s: %v", x.what, err)
		if !x.ok {
			_, err := splitfs.New(cfg)
			r.want("a file system of "+x.what, err, splitfs.ErrConfig)
		}
	}
}

// sizes are the regions that a configuration yields, and the largest file.
func (r *run) sizes() {
	for _, x := range []struct{ region, most, first, fits, tooLarge int }{
		{0, 2048, 2048, 1900, 2040},
		{1024, 0, 1024, 65000, 65536},
		{1024, 1024, 1024, 900, 1001},
		{1024, 3000, 1024, 2800, 2980},
	} {
		cfg := r.config()
		cfg.Region, cfg.MaxRegion, cfg.NewMutex, cfg.Logf = x.region, x.most, nil, nil // as it is by default
		var err error
		r.fsys, err = splitfs.New(cfg)
		r.want("mount", err, nil)
		f := r.opens("a.log", os.O_RDWR|os.O_CREATE)
		for _, o := range r.store.objects { //lint:ordered there is one
			r.that(len(o.data) == x.first, "a new file has a region of %d bytes, want %d", len(o.data), x.first)
		}
		r.fits(f, x.fits, x.tooLarge)
		r.that(len(r.store.objects) == 1, "after growth there are %d objects", len(r.store.objects))
		r.want("close and remove", errors.Join(f.Close(), r.fsys.Remove("a.log")), nil)
		r.fsys.Close()
	}
}

// defaults checks the regions of a configuration without sizes.
func (r *run) defaults() {
	for _, most := range []int{0, 8 << 20} {
		var asked sizing
		cfg := r.config()
		cfg.Region, cfg.MaxRegion, cfg.Store, cfg.Logf = 0, most, &asked, nil
		fsys, err := splitfs.New(cfg)
		r.want("mount", err, nil)
		_, err = fsys.Open("a.log", os.O_RDWR|os.O_CREATE, perm)
		r.want("a file", err, errInjected)
		r.that(asked == splitfs.DefaultRegion, "a new file has a region of %d bytes, want %d", asked, splitfs.DefaultRegion)
		fsys.Close()
	}
}

// sizing is a store that only records the sizes of objects.
type sizing int

func (s *sizing) Create(_ string, size int) (splitfs.Object, error) {
	*s = sizing(size)
	return nil, errInjected
}

func (*sizing) Recover(string) (splitfs.Object, error) { return nil, errInjected }

// fits fills a file to its limit.
func (r *run) fits(f *splitfs.File, most, tooLarge int) {
	_, err := f.Append(make([]byte, 10))
	r.want("append", err, nil)
	_, err = f.Append(make([]byte, tooLarge-10))
	r.want("a file that is too large", err, splitfs.ErrNoSpace)
	r.that(strings.Contains(err.Error(), "--max-region"), "%v does not name the remedy", err)
	r.want("truncation to a length that is too large", f.Truncate(int64(tooLarge)), splitfs.ErrNoSpace)
	_, err = f.Append(make([]byte, most-10))
	r.want("a file that fits", err, nil)
	size, err := f.Size()
	r.that(size == int64(most) && err == nil, "the file has %d bytes, want %d: %v", size, most, err)
}

// presets are the patterns of programs.
func (r *run) presets() {
	r.that(strings.Join(splitfs.PresetNames(), " ") == "leveldb pebble redis rocksdb sqlite", "the presets are %v", splitfs.PresetNames())
	cfg := r.config()
	cfg.Patterns = append(cfg.Patterns, "sub/*.d")
	for _, p := range splitfs.PresetNames() {
		cfg.Patterns = append(cfg.Patterns, splitfs.Presets[p]...)
	}
	var err error
	r.fsys, err = splitfs.New(cfg)
	r.want("mount", errors.Join(err, r.fsys.Mkdir("sub", perm), r.fsys.Mkdir("sub/sub", perm)), nil)
	for _, x := range []struct {
		name string
		ncl  bool
	}{{"orders.db-wal", true}, {"orders.db", false}, {"appendonly.aof", true}, {"sub/appendonly.aof.3.incr.aof", true}, {"appendonly.aof.3.base.rdb", false},
		{"000012.log", true}, {"LOG", false}, {"sub/x.d", true}, {"x.d", false}, {"sub/sub/x.d", false}, {"sub/sub/y.log", true}, {"log", false}} {
		f := r.opens(x.name, os.O_RDWR|os.O_CREATE)
		r.that(f.NCL() == x.ncl, "%s is on the peers: %v, want %v", x.name, f.NCL(), x.ncl)
		r.want("close", f.Close(), nil)
	}
	r.fsys.Close()
}
