package process

import "syscall"

// dieWithParent lets a process end when this one does, however that happens, and not
// before: Ctrl-C at a terminal goes to a whole group of processes, and a peer that ends by
// itself would be taken for a finding.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
