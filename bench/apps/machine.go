package apps

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes the machine that produced the numbers.
type Machine struct {
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	System string `json:"system"` // and its kernel
	Go     string `json:"go"`
	// FS is the file system of the directory.
	FS string `json:"file_system"`
	// Memory: the file system is in memory, so an fsync costs only a system call.
	Memory bool `json:"in_memory,omitempty"`
}

func (m *Machine) String() string {
	s := fmt.Sprintf("%s, %d processors; %s; %s; directory on %s", m.CPU, m.CPUs, m.System, m.Go, m.FS)
	if m.Memory {
		s += ", which is in memory: an fsync costs nothing there"
	}
	return s
}

// Describe describes this machine, and the file system of dir.
func Describe(dir string) Machine {
	dir = cmp.Or(dir, os.TempDir())
	m := Machine{CPU: cpu(), CPUs: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(b))
	}
	m.FS, m.Memory = fileSystem(dir)
	return m
}

// cpu returns the name of the processor model, if the system reports it.
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}
