//go:build !linux

package bench

// Pin does nothing here.
func Pin(bool) error { return nil }
