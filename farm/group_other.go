//go:build !unix

package farm

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }
