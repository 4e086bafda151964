package soak

import "syscall"

// dieWithParent lets a process end when this one does, however that happens.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
