// Package pages maps memory for cards: pages that the garbage collector neither
// moves nor frees, in DRAM or of a file.
//
// What a card may reach must stay where it is for as long as it is registered, and
// a Go slice makes no such promise to a device. Both the binding and the host on
// the operating system need such memory, and neither should import the other.
package pages

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on the machines that have cards.
const hugePage = 2 << 20

// Map returns size zeroed bytes of DRAM that start at a page, on huge pages if
// huge is set. Every page is there when it returns, so that a machine that is out
// of memory fails here and not with a signal later.
func Map(size int, huge bool) ([]byte, error) {
	if size <= 0 {
		return nil, fmt.Errorf("pages: %d bytes: %w", size, unix.EINVAL)
	}
	flags, unit, err := mapFlags(huge)
	if err != nil {
		return nil, fmt.Errorf("pages: map %d bytes: %w", size, err)
	}
	b, err := unix.Mmap(-1, 0, roundUp(size, unit), unix.PROT_READ|unix.PROT_WRITE, flags)
	switch {
	case err == nil:
	case huge && errors.Is(err, unix.ENOMEM):
		return nil, fmt.Errorf("pages: map %d bytes: %w (too few huge pages are free: see HugePages_Free in /proc/meminfo, and reserve some with sysctl vm.nr_hugepages)", size, err)
	default:
		return nil, fmt.Errorf("pages: map %d bytes: %w", size, err)
	}
	// A child made by fork must not share them: the first write of the parent would
	// move the parent's page away from the card's.
	if err := dontFork(b); err != nil {
		return nil, errors.Join(fmt.Errorf("pages: keep %d bytes from children: %w", size, err), unix.Munmap(b))
	}
	return b[:size], nil
}

// MapFile maps the first size bytes of f, shared. sync reports that the file is
// memory itself (DAX): flushing cache lines makes what they hold persistent.
func MapFile(f *os.File, size int) (b []byte, sync bool, err error) {
	const prot = unix.PROT_READ | unix.PROT_WRITE
	if b, err = mapDAX(f, size, prot); err == nil {
		return b, true, nil
	}
	if b, err = unix.Mmap(int(f.Fd()), 0, size, prot, unix.MAP_SHARED); err != nil {
		return nil, false, fmt.Errorf("pages: map %s: %w", f.Name(), err)
	}
	return b, false, nil
}

// Unmap releases the result of Map or MapFile.
func Unmap(b []byte) error {
	if err := unix.Munmap(b[:cap(b)]); err != nil {
		return fmt.Errorf("pages: unmap: %w", err)
	}
	return nil
}

// Sync writes the pages of b[off:off+n], which are of a file, to the disk.
func Sync(b []byte, off, n int) error {
	from := off &^ (os.Getpagesize() - 1)
	if err := unix.Msync(b[from:off+n], unix.MS_SYNC); err != nil {
		return fmt.Errorf("pages: sync: %w", err)
	}
	return nil
}

// Addr returns where b is.
func Addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
