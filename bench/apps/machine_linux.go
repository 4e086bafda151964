package apps

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileSystem names the file system of dir, and reports whether it is in memory.
func fileSystem(dir string) (name string, memory bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "an unknown file system", false
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4", false
	case unix.XFS_SUPER_MAGIC:
		return "xfs", false
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs", false
	case unix.NFS_SUPER_MAGIC:
		return "nfs", false
	case unix.CEPH_SUPER_MAGIC:
		return "ceph", false
	case unix.TMPFS_MAGIC:
		return "tmpfs", true
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs (its layers may be in memory)", false
	}
	return fmt.Sprintf("file system %#x", uint32(st.Type)), false
}
