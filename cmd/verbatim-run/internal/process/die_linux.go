package process

import "syscall"

// dieWithParent makes a process terminate when this process does, for any reason, and not
// before. It has its own process group: Ctrl-C at a terminal is sent to a whole group, and a
// peer that exits by itself would count as a finding.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
