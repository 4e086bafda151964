//go:build !linux

package apps

// fileSystem is not known here.
func fileSystem(string) (name string, memory bool) { return "an unknown file system", false }
