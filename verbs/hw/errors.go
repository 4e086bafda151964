package hw

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors that Open returns besides [ErrConfig].
var (
	// ErrNotBuilt: the program was built without the tag rdma.
	ErrNotBuilt = errors.New("hw: this program was built without RDMA; build it with go build -tags rdma, which needs libibverbs-dev and a C compiler")
	// ErrNoDevice: there is no such device.
	ErrNoDevice = errors.New("hw: no such device")
	// ErrPortDown: the port is not active.
	ErrPortDown = errors.New("hw: port is down")
	// ErrDead: the device reported a fatal error, or is gone. It is unusable: close all its
	// objects and open it again.
	ErrDead = errors.New("hw: device is dead")
)

// sentinel maps an errno to the error of package verbs.
func sentinel(e syscall.Errno) error {
	switch e {
	case syscall.EINVAL, syscall.EFAULT, syscall.ERANGE:
		return verbs.ErrInvalid
	case syscall.EBUSY:
		return verbs.ErrBusy
	case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EPROTONOSUPPORT:
		return verbs.ErrUnsupported
	case syscall.EIO, syscall.ENODEV, syscall.ENXIO:
		return ErrDead
	}
	return nil
}

// Hints about the usual cause of an operation's errno.
const (
	hintOpen = "may this user open /dev/infiniband/uverbs*? They usually belong to root or to the group rdma"
	hintLock = "the limit on locked memory is %s: raise it with ulimit -l unlimited, with memlock in /etc/security/limits.conf, " +
		"with LimitMEMLOCK=infinity in a systemd unit, or --ulimit memlock=-1 of a container"
	hintFile  = "is the memory a mapped file? Most file systems do not let a card pin their pages; DAX devices, tmpfs and huge pages do"
	hintRoute = "is there a route from this port to the peer's GID %s, are both of the same type, and is the peer's interface up?"
)

// callError returns the error of a libibverbs call on a device: the operation, the errno,
// and a hint. It wraps the errno and the error of package verbs.
func callError(device, what string, e syscall.Errno, hint string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "hw: %s: %s: %s", device, what, errnoName(e))
	if hint != "" {
		b.WriteString(" (" + hint + ")")
	}
	if s := sentinel(e); s != nil {
		return fmt.Errorf("%s: %w: %w", b.String(), s, e)
	}
	return fmt.Errorf("%s: %w", b.String(), e)
}

// hintRegister returns the hint for a failed registration.
func hintRegister(e syscall.Errno, limit string) string {
	switch e {
	case syscall.ENOMEM, syscall.EAGAIN, syscall.EPERM:
		return fmt.Sprintf(hintLock, limit)
	case syscall.EFAULT, syscall.EOPNOTSUPP, syscall.EINVAL:
		return hintFile
	}
	return ""
}

// lockLimit formats the limit on locked memory.
func lockLimit() string {
	const rlimitMemlock = 8
	var l syscall.Rlimit
	if err := syscall.Getrlimit(rlimitMemlock, &l); err != nil {
		return "unknown"
	}
	if l.Cur == ^uint64(0) {
		return "unlimited"
	}
	return fmt.Sprintf("%d bytes", l.Cur)
}

var errnoNames = map[syscall.Errno]string{
	syscall.EPERM: "EPERM", syscall.EIO: "EIO", syscall.ENXIO: "ENXIO", syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM",
	syscall.EACCES: "EACCES", syscall.EFAULT: "EFAULT", syscall.EBUSY: "EBUSY", syscall.ENODEV: "ENODEV",
	syscall.EINVAL: "EINVAL", syscall.ENOSYS: "ENOSYS", syscall.EOPNOTSUPP: "EOPNOTSUPP", syscall.ETIMEDOUT: "ETIMEDOUT",
	syscall.ENETUNREACH: "ENETUNREACH", syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.EMFILE: "EMFILE",
	syscall.ENOSPC: "ENOSPC", syscall.ENOENT: "ENOENT", syscall.EPROTONOSUPPORT: "EPROTONOSUPPORT",
}

func errnoName(e syscall.Errno) string {
	if n := errnoNames[e]; n != "" {
		return n
	}
	return fmt.Sprintf("errno %d", int(e))
}

// noDevice lists the devices that exist.
func noDevice(name string, there []string) error {
	switch {
	case len(there) == 0:
		return fmt.Errorf("%w: %s: this machine has no RDMA device that libibverbs can use; see ibv_devinfo, and rdma link for the devices of the kernel",
			ErrNoDevice, orText(name, "any"))
	case name == "":
		return fmt.Errorf("%w: Device is not set, and there are several: %s", ErrNoDevice, strings.Join(there, ", "))
	}
	return fmt.Errorf("%w: %s; there are: %s", ErrNoDevice, name, strings.Join(there, ", "))
}

func orText(s, d string) string {
	if s == "" {
		return d
	}
	return s
}
