//go:build unix

package farm

import "syscall"

// ownGroup keeps Ctrl-C at the worker's terminal from the program. It would end as interrupted, perhaps before the worker
// knows why, and that would count as its result.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
