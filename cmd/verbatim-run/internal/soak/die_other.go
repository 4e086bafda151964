//go:build !linux

package soak

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
