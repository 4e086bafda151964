package soak

import (
	"syscall"
	"testing"
)

// Ctrl-C reaches the soak, and not its processes.
func TestOwnGroup(t *testing.T) {
	s := &soak{cfg: fakeConfig(t, "honest")}
	p, _, err := s.serve(t.Context(), "peer1", "peer")
	defer s.endAll()
	if err != nil {
		t.Fatal(err)
	}
	if group, err := syscall.Getpgid(p.Cmd.Process.Pid); err != nil || group == syscall.Getpgrp() {
		t.Errorf("it is in our group %d, %v", group, err)
	}
}
