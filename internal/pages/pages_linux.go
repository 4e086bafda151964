package pages

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFlags are the flags of Map, and the size that it rounds up to.
func mapFlags(huge bool) (flags, unit int, err error) {
	flags, unit = unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE, os.Getpagesize()
	if huge {
		flags, unit = flags|unix.MAP_HUGETLB, hugePage
	}
	return flags, unit, nil
}

func dontFork(b []byte) error { return unix.Madvise(b, unix.MADV_DONTFORK) }

// mapDAX maps a file that is memory itself, and fails for any other.
func mapDAX(f *os.File, size, prot int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, prot, unix.MAP_SHARED_VALIDATE|unix.MAP_SYNC)
}
