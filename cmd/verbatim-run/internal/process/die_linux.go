package process

import "syscall"

// dieWithParent makes a process terminate when this one does, however that happens, and not
// before. Ctrl-C at a terminal goes to a whole group of processes, and a peer that exits by
// itself would count as a finding.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
