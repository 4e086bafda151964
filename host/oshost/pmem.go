package oshost

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pages"
)

// OpenPMEM implements host.Host: a persistent region is a file in Config.PMEMDir, or a
// DAX device there under the region's name. A region that is already open is shared.
func (h *Host) OpenPMEM(name string, size int) (host.Region, error) {
	if h.cfg.PMEMDir == "" {
		return nil, fmt.Errorf("oshost: persistent region %q: %w: Config.PMEMDir is not set", name, host.ErrNoMemory)
	}
	if name == "" || len(name) > maxName || size <= 0 || size > math.MaxInt32 {
		return nil, fmt.Errorf("oshost: %w: a persistent region %q of %d bytes", host.ErrNoMemory, name, size)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.pmem[name]
	if r == nil {
		var err error
		if r, err = h.mapPMEM(name, size); err != nil {
			return nil, err
		}
		h.pmem[name] = r
	}
	if r.Len() != size {
		return nil, fmt.Errorf("oshost: persistent region %q: %w: it has %d bytes, not %d", name, host.ErrBounds, r.Len(), size)
	}
	r.users++
	return r, nil
}

// PMEMFile returns the file or DAX device of a persistent region in a Config.PMEMDir. A name may contain slashes and dots:
// escaped it is a single file name, which cannot lead elsewhere.
func PMEMFile(dir, name string) string { return filepath.Join(dir, "pmem-"+url.PathEscape(name)) }

func (h *Host) mapPMEM(name string, size int) (*region, error) {
	f, err := os.OpenFile(PMEMFile(h.cfg.PMEMDir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("oshost: persistent region %q: %w: %w", name, host.ErrNoMemory, err)
	}
	defer f.Close() // the mapping stays
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular() && info.Size() == 0:
		if err = f.Truncate(int64(size)); err == nil {
			err = errors.Join(f.Sync(), syncDir(h.cfg.PMEMDir)) // a crash must not lose the file itself
		}
	case info.Mode().IsRegular() && info.Size() != int64(size):
		return nil, fmt.Errorf("oshost: persistent region %q: %w: it has %d bytes, not %d", name, host.ErrBounds, info.Size(), size)
	}
	if err != nil {
		return nil, fmt.Errorf("oshost: persistent region %q: %w: %w", name, host.ErrNoMemory, err)
	}
	b, dax, err := pages.MapFile(f, size)
	if err != nil {
		return nil, fmt.Errorf("oshost: persistent region %q: %w: %w", name, host.ErrNoMemory, err)
	}
	return &region{Block: pages.NewBlock(b), h: h, name: name, dax: dax && canFlush}, nil
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// close unmaps a persistent region when it has no users left. Its content stays.
func (r *region) close() error {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	if r.users > 1 {
		r.users--
		return nil
	}
	err := r.Block.Free()
	if r.h.pmem[r.name] == r && r.Bytes() == nil {
		delete(r.h.pmem, r.name)
	}
	if err != nil {
		return fmt.Errorf("oshost: free persistent region %q: %w", r.name, err)
	}
	return nil
}

// Flush implements host.Region. If the memory is a file in the page cache, Flush does
// all the work, and panics with an error that wraps host.ErrMedia if the disk has
// failed: no later operation could report it.
func (r *region) Flush(off, n int) {
	b := r.at(off, n)
	switch {
	case r.name == "" || n == 0:
	case r.dax:
		flushLines(b)
	default:
		if err := pages.Sync(r.Bytes(), off, n); err != nil {
			panic(fmt.Errorf("oshost: flush [%d,%d) of persistent region %q: %w: %w", off, off+n, r.name, host.ErrMedia, err))
		}
	}
}

// Fence implements host.Region.
func (r *region) Fence() { storeFence() }
