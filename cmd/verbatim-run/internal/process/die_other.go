//go:build !linux

package process

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
