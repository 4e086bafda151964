package verbs

import "fmt"

// When an object may be used and when it may be released. All devices enforce the same rules, so
// they are here. A device passes what it knows of the object: whether it is gone, which means
// deallocated or destroyed, and how many others still use it.

// CheckPD returns nil if memory may be registered and queue pairs created in a protection domain.
// The error wraps [ErrClosed].
func CheckPD(gone bool) error {
	if gone {
		return fmt.Errorf("%w: the protection domain", ErrClosed)
	}
	return nil
}

// CheckDealloc returns nil if a protection domain with this number of registrations and queue pairs
// may be deallocated. The error wraps [ErrClosed] or [ErrBusy].
func CheckDealloc(gone bool, members int) error {
	return checkRelease(gone, members, "regions and QPs are left")
}

// CheckDestroyCQ returns nil if a completion queue may be destroyed. The send queue and the receive
// queue of a queue pair count separately. The error wraps [ErrClosed] or [ErrBusy].
func CheckDestroyCQ(gone bool, queues int) error {
	return checkRelease(gone, queues, "work queues use it")
}

// CheckDestroyChannel returns nil if a completion channel with this number of CQs may be destroyed.
// The error wraps [ErrClosed] or [ErrBusy].
func CheckDestroyChannel(gone bool, cqs int) error {
	return checkRelease(gone, cqs, "CQs report on it")
}

func checkRelease(gone bool, users int, which string) error {
	switch {
	case gone:
		return ErrClosed
	case users > 0:
		return fmt.Errorf("%w: %d %s", ErrBusy, users, which)
	}
	return nil
}

// CheckDepth returns nil if a device that allows CQs of up to most entries may create one of depth
// entries. The error wraps [ErrInvalid].
func CheckDepth(depth, most int) error {
	if depth < 1 || depth > most {
		return fmt.Errorf("%w: depth is %d; it must be 1 to %d", ErrInvalid, depth, most)
	}
	return nil
}

// CheckRoom returns nil if wc has room for at least one completion. The error wraps [ErrInvalid].
func CheckRoom(wc []WC) error {
	if len(wc) == 0 {
		return fmt.Errorf("%w: no room for completions", ErrInvalid)
	}
	return nil
}
