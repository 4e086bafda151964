//go:build unix && !linux

package pages

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// There are no cards for these systems: what is here lets the rest be built, and the
// simulator be used.

func mapFlags(huge bool) (flags, unit int, err error) {
	if huge {
		return 0, 0, fmt.Errorf("huge pages: %w on this system", errors.ErrUnsupported)
	}
	return unix.MAP_PRIVATE | unix.MAP_ANON, os.Getpagesize(), nil
}

func dontFork([]byte) error { return nil }

func mapDAX(*os.File, int, int) ([]byte, error) { return nil, errors.ErrUnsupported }
