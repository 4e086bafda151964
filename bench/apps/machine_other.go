//go:build !linux

package apps

// fileSystem cannot name the file system on this operating system.
func fileSystem(string) (name string, memory bool) { return "an unknown file system", false }
